//! The JSON that outlives the code that wrote it: commands between the two Workers, which are deployed one after the
//! other, and what objects store. `formats-v1.json` has an example of each. A shape may gain an optional member; any
//! other change needs a `formats-v2.json` beside it, and code that still reads the first.

use std::collections::BTreeSet;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use contract::{
    accounts, activity, attention, catalog, clicks, counters, kv, ledger, operation, outbox, postbacks, recovery,
    register,
};
use domain::{
    callbacks::fields::Fields,
    catalog::{advertiser::Advertiser, app::App, offer::Offer, publisher::Publisher},
    conversions::terms::{AppTerms, OfferTerms},
};
use origin::objects::{
    accounts::ended::Ended, activity::alarms::lasting, catalog as catalog_object, ledger as ledger_object,
    outbox::conversions::reservations::Reservation,
};

const EXAMPLES: &str = include_str!("formats-v1.json");
const VERSION: u64 = 1;

/// Whether code of today reads an example and writes it again as it is.
type Check = fn(&Value) -> Result<(), String>;

fn survives<T: Serialize + DeserializeOwned>(example: &Value) -> Result<(), String> {
    let read: T = serde_json::from_value(example.clone()).map_err(|error| error.to_string())?;
    let written = serde_json::to_value(&read).map_err(|error| error.to_string())?;
    if written == *example { Ok(()) } else { Err(format!("is written as {written}")) }
}

/// The same of an object's command, which its callers send by operations of their own.
fn survives_sending<C: operation::Command>(example: &Value) -> Result<(), String> {
    let read: C = serde_json::from_value(example.clone()).map_err(|error| error.to_string())?;
    let sent = read.sent().map_err(|error| error.to_string())?;
    let sent: Value = serde_json::from_str(&sent).map_err(|error| error.to_string())?;
    if sent != *example {
        return Err(format!("is sent as {sent}"));
    }
    survives::<C>(example)
}

const FORMATS: [(&str, Check); 71] = [
    ("activity", survives::<activity::Activity>),
    ("activity_command", survives_sending::<activity::Command>),
    ("activity_counted", survives::<activity::Counted>),
    ("activity_declined", survives::<attention::DeclinedItems>),
    ("activity_found", survives::<activity::Found>),
    ("activity_heard", survives::<activity::FeedAnswer>),
    ("activity_page", survives::<activity::RewardPage>),
    ("activity_register", survives::<register::RegisterPart>),
    ("accounts_announced", survives::<accounts::PendingAudit>),
    ("accounts_audit", survives::<accounts::AuditPage>),
    ("accounts_command", survives_sending::<accounts::Command>),
    ("accounts_invite", survives::<accounts::InviteDetails>),
    ("accounts_invited", survives::<accounts::NewInvite>),
    ("accounts_members", survives::<accounts::Members>),
    ("accounts_passkey", survives::<accounts::Passkey>),
    ("accounts_passkeys", survives::<Vec<accounts::PasskeyRow>>),
    ("accounts_session", survives::<accounts::Session>),
    ("accounts_sessions", survives::<Vec<accounts::SessionRow>>),
    ("accounts_signed_in", survives::<accounts::SignedIn>),
    ("catalog_command", survives_sending::<catalog::Command>),
    ("catalog_refreshed", survives::<catalog::Refreshed>),
    ("catalog_app_offering", survives::<catalog::AppOffering>),
    ("catalog_app_settings", survives::<catalog::AppSettings>),
    ("catalog_known_app", survives::<catalog::KnownApp>),
    ("catalog_known_offer", survives::<catalog::KnownOffer>),
    ("clicks_command", survives_sending::<clicks::Command>),
    ("clicks_found", survives::<clicks::Found>),
    ("counters_applied", survives::<operation::Applied>),
    ("counters_command", survives_sending::<counters::Command>),
    ("counters_stats", survives::<counters::OfferStats>),
    ("counters_taken_of_day", survives::<counters::TakenOfDay>),
    ("counters_taken", survives::<counters::Taken>),
    ("kv_pointer", survives::<kv::Pointer>),
    ("ledger_command", survives_sending::<ledger::Command>),
    ("ledger_day_sums", survives::<ledger::DaySums>),
    ("ledger_export", survives::<ledger::Export>),
    ("ledger_export_piece", survives::<ledger::ExportPiece>),
    ("ledger_export_progress", survives::<ledger::ExportProgress>),
    ("ledger_freshness", survives::<ledger::Freshness>),
    ("ledger_day_changes", survives::<ledger::DayChanges>),
    ("ledger_counted_day", survives::<ledger::CountedDay>),
    ("ledger_upload", survives::<ledger::Upload>),
    ("ledger_vouched", survives::<ledger::Vouched>),
    ("mark", survives::<operation::Mark>),
    ("operator_reply", survives::<operation::OperatorReply>),
    ("outbox_answer", survives::<outbox::Answer>),
    ("outbox_checked", survives::<outbox::CheckedPostback>),
    ("outbox_claimed", survives::<outbox::Claimed>),
    ("outbox_command", survives_sending::<outbox::Command>),
    ("outbox_day", survives::<outbox::OutboxDay>),
    ("outbox_day_entries", survives::<outbox::DayEntries>),
    ("outbox_journal", survives::<outbox::Journal>),
    ("outbox_page", survives::<outbox::ListPage>),
    ("outbox_replayed", survives::<outbox::Replayed>),
    ("outbox_standing", survives::<outbox::Standing>),
    ("postbacks_command", survives_sending::<postbacks::Command>),
    ("postbacks_page", survives::<postbacks::PostbackPage>),
    ("recovery_bookmark", survives::<recovery::Bookmark>),
    ("recovery_command", survives_sending::<recovery::Command>),
    ("stored_advertiser", survives::<Advertiser>),
    ("registered_by_accounts", survives::<Ended>),
    ("registered_by_alarms", survives::<lasting::Address>),
    ("registered_by_catalog", survives::<catalog_object::lasting::Lasting>),
    ("registered_by_ledger", survives::<ledger_object::lasting::Lasting>),
    ("stored_app_terms", survives::<AppTerms>),
    ("stored_offer_terms", survives::<OfferTerms>),
    ("stored_app", survives::<App>),
    ("stored_fields", survives::<Fields>),
    ("stored_offer", survives::<Offer>),
    ("stored_publisher", survives::<Publisher>),
    ("stored_reservation", survives::<Reservation>),
];

fn examples() -> Value {
    serde_json::from_str(EXAMPLES).unwrap()
}

#[test]
fn each_json_format_is_read_and_written_as_before() {
    let examples = examples();
    assert_eq!(examples["version"], VERSION);
    for (name, check) in FORMATS {
        let examples = examples[name].as_array().unwrap_or_else(|| panic!("no {name}"));
        assert!(!examples.is_empty(), "{name}");
        for example in examples {
            check(example).unwrap_or_else(|problem| panic!("{name}: {example} {problem}"));
        }
    }
}

#[test]
fn each_command_has_an_example() {
    let examples = examples();
    for (object, names) in [
        ("accounts_command", accounts::Command::NAMES),
        ("activity_command", activity::Command::NAMES),
        ("catalog_command", catalog::Command::NAMES),
        ("clicks_command", clicks::Command::NAMES),
        ("counters_command", counters::Command::NAMES),
        ("ledger_command", ledger::Command::NAMES),
        ("outbox_command", outbox::Command::NAMES),
        ("postbacks_command", postbacks::Command::NAMES),
        ("recovery_command", recovery::Command::NAMES),
    ] {
        let shown = examples[object].as_array().unwrap().iter();
        let shown: BTreeSet<_> =
            shown.flat_map(|command| command.as_object().unwrap().keys()).map(|name| name.replace('_', "")).collect();
        let names: BTreeSet<_> = names.iter().map(|name| name.to_lowercase()).collect();
        assert_eq!(shown, names, "{object}");
    }
}
