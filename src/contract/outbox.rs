//! The outboxes. Each app has one or several of these objects, its outbox shards.

mod address;
mod changes;
mod check;
mod current;
mod day;
mod endpoint;
mod journal;
mod reward;
mod settle;

pub use address::OutboxShard;
pub use changes::{ChangedReward, ChangedRewards, ReadChanges};
pub use check::{CheckPostback, CheckedPostback, FindTxn, NumberedTerms};
pub use current::{ClaimApp, ClaimedApp, SetOffer};
pub use day::{DayEntries, DayEntry, ListDay, OfferDay, OutboxDay, ReadDay, Restated, SumDay};
pub use endpoint::{Disabled, Enable, EndpointState, GetStatus, Standing};
pub use journal::{AddJournal, Journal, JournalBatch, ReadJournal, SendAll};
pub use reward::{ClickOutcome, ClickReward, Erase, ReadClick, ReadReward, ReplayReward, ReplayRewards};
pub use settle::{Settle, SettleFilter, SettleMany, Settled};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    catalog::CallbackSettings,
    ledger::DaySums,
    operation::{self, Bytes, Done, Operation, Repeat},
    operations,
};
use domain::{
    callbacks::signature::SignWith,
    conversions::{
        state::{Reason, Status},
        table::Event,
        terms::{CurrentApp, CurrentOffer},
    },
    model::{AdvertiserId, CurrencyRate},
    tracking::Click,
};

/// The namespace's binding.
pub const BINDING: &str = "OUTBOXES";

operations! {
    pub enum Command {
        /// A postback. Idempotent by click and goal: a repeated postback gets the outcome of the first.
        Convert(Box<Conversion>) -> Answer, IdempotentInHeader;
        /// The app's current callback settings. Idempotent by revision: the highest applies, in any order of arrival.
        Settings(CallbackSettings) -> Done, Idempotent;
        /// An offer's current values. Idempotent by revision, like the settings.
        SetOffer(SetOffer) -> Done, Idempotent;
        /// Asks how many outboxes the app has. Idempotent: the first stored number stands and is returned.
        ClaimApp(ClaimApp) -> ClaimedApp, Idempotent;
        /// Claims a sender's id of a conversion for a click. Idempotent by the claim's number.
        ClaimTxn(ClaimTxn) -> Claimed, IdempotentInHeader;
        /// Ends a claim, unless a later claim of the same click has replaced it.
        FreeTxn(FreeTxn) -> Done, Idempotent;
        /// Reports that the endpoint has disabled itself.
        Disabled(Disabled) -> Done, Idempotent;
        /// An action of the operator. Idempotent like a postback.
        Settle(Settle) -> Answer, IdempotentInHeader;
        /// One part of an action on many conversions. Idempotent, since a settled conversion is a duplicate or no
        /// longer matches the filter.
        SettleMany(SettleMany) -> Settled, IdempotentInHeader;
        List(List) -> ListPage, Idempotent;
        Get(Get) -> operation::OperatorReply, Idempotent;
        Replay(Replay) -> operation::OperatorReply, Once;
        Status(GetStatus) -> Standing, Idempotent;
        Enable(Enable) -> Standing, Idempotent;
        Test(Test) -> operation::OperatorReply, Once;
        Diagnose(Diagnose) -> operation::OperatorReply, Once;
        Erase(Erase) -> operation::OperatorReply, Idempotent;
        ReadDay(ReadDay) -> OutboxDay, Idempotent;
        ListDay(ListDay) -> DayEntries, Idempotent;
        SumDay(SumDay) -> DaySums, Idempotent;
        Restated(Restated) -> Done, Idempotent;
        ReadReward(ReadReward) -> operation::OperatorReply, Idempotent;
        ReadChanges(ReadChanges) -> ChangedRewards, Idempotent;
        ReadClick(ReadClick) -> ClickOutcome, Idempotent;
        ReplayReward(ReplayReward) -> operation::OperatorReply, Once;
        ReplayRewards(ReplayRewards) -> Replayed, Once;
        CheckPostback(Box<CheckPostback>) -> CheckedPostback, Idempotent;
        FindTxn(FindTxn) -> Claimed, Idempotent;
        AddJournal(AddJournal) -> operation::Mark, Idempotent;
        ReadJournal(ReadJournal) -> Journal, Idempotent;
        /// Sends all waiting batches, because the outbox is about to be restored from an earlier copy.
        SendAll(SendAll) -> Done, Idempotent;
    }
    pub enum Reply {
        Answer(Answer),
        Checked(CheckedPostback),
        Click(ClickOutcome),
        Claimed(Claimed),
        ClaimedApp(ClaimedApp),
        Page(ListPage),
        Changes(ChangedRewards),
        Replayed(Replayed),
        Settled(Settled),
        Standing(Standing),
        Day(OutboxDay),
        DayEntries(DayEntries),
        Operator(operation::OperatorReply),
        DaySums(DaySums),
        Mark(operation::Mark),
        Journal(Journal),
        Done {},
    }
}

/// A sender's own id of a conversion, which a click claims for the whole app.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Txn {
    /// The sender. Another advertiser may use the same id.
    pub advertiser: AdvertiserId,
    /// The goal for which the id was sent. Another goal may have the same id.
    pub goal: String,
    /// The sender's id.
    pub txn: String,
    /// The nonce of the click that claims it.
    pub nonce: Bytes,
    /// The number of the claim, which increases with each claim of the click.
    pub number: i64,
}

/// Claims the id; see [`Command::ClaimTxn`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimTxn(pub Txn);

/// Ends the claim; see [`Command::FreeTxn`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FreeTxn(pub Txn);

/// The answer to [`ClaimTxn`] and [`FindTxn`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claimed {
    /// False if another click has claimed the id.
    pub claimed: bool,
}

/// A part of `GET …/conversions`: an outbox's log of conversions, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct List {
    /// `pending`, `held`, `approved`, `rejected`, `reversed` or `refused`; any if `None`.
    pub status: Option<String>,
    /// The state of the callback, such as `dead`; `refused` selects refused conversions. Any if `None`.
    pub state: Option<String>,
    /// A reason in words, or the code of a reason to hold or refuse conversions; any if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A user of the app, whose entries are all in one outbox; any if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// Maximum entries on the page.
    pub limit: u32,
    /// A page ends once the texts of its attempts have this many bytes.
    pub max_text: usize,
    /// Only entries with numbers below this one; `None` for the first page.
    pub before: Option<i64>,
}

/// A page of an outbox's log.
#[derive(Debug, Serialize, Deserialize)]
pub struct ListPage {
    /// The entries, newest first.
    pub entries: Vec<ListedEntry>,
    /// The lowest number that the page covers: it has every matching entry with this number or a higher one. `None` if
    /// the page covers the rest of the log.
    pub end: Option<i64>,
}

/// An entry of the log.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ListedEntry {
    /// The entry's number, which is unique over the outboxes of the app and increases with time.
    pub number: i64,
    /// The entry as the operator reads it.
    pub entry: Box<RawValue>,
}

/// `GET …/conversions/{transaction_id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Get {
    /// The id of a reward, a reversal or a notice.
    pub transaction_id: String,
}

/// `POST …/conversions/{transaction_id}/replay`. Each call resends the callback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replay {
    /// The id of a reward, a reversal or a notice.
    pub transaction_id: String,
}

/// `POST …/callback_test`. Each call sends a test callback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Test {
    /// The app's currency, from the catalog.
    pub currency: CurrencyRate,
    /// The app's callback settings, from the catalog.
    pub callback: CallbackSettings,
}

/// A publisher's test of its callback. Each call sends a test callback and returns a diagnosis of the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnose {
    /// The app's currency, from the catalog.
    pub currency: CurrencyRate,
    /// The app's callback settings, from the catalog.
    pub callback: CallbackSettings,
    /// The secret that signs the test.
    pub sign_with: SignWith,
}

/// A postback whose click id the edge has opened and whose token it has checked, or an operator's action in this form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversion {
    /// The click's nonce, which identifies it.
    pub nonce: Bytes,
    /// The click, from its click id or from its record.
    pub click: Click<'static>,
    /// The advertiser of the postback's token; `None` for an operator's action.
    pub advertiser: Option<AdvertiserId>,
    /// The goal parameter as it was sent.
    pub goal: Option<String>,
    /// The sender's own id of the conversion.
    pub txn: Option<String>,
    /// The status of the postback, or the operator's action.
    pub event: Event,
    /// The reason given by the sender or the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The reasons to hold or refuse a conversion that the operator overrides by naming them here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub despite: Vec<Reason>,
    /// The current values known to the caller. The outbox uses the newest values that it has seen.
    pub current: Current,
    /// The time of receipt, in milliseconds, of a postback that could not be decided at once. The outbox checks the
    /// postback's deadlines as of this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_ms: Option<i64>,
    /// True if the test page requests a hold. Ignored unless the app is a test app.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_to_be_held: bool,
}

/// The current values of a click's offer and app in the edge's snapshot. An outbox keeps the newest values it has seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Current {
    /// The offer's values; `None` if the snapshot does not have the offer yet.
    pub offer: Option<CurrentOffer>,
    /// The app's values; `None` if the snapshot does not have the app yet.
    pub app: Option<CurrentApp>,
    /// True if the snapshot is recent enough that a goal missing from it can be refused permanently.
    pub is_recent: bool,
}

/// The answer to a postback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The reward's id, even after a reversal.
    pub transaction_id: String,
    /// The state of the conversion as the advertiser sees it.
    pub status: Status,
    /// True if the postback changed nothing.
    pub duplicate: bool,
}

/// The result of one part of [`ReplayRewards`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replayed {
    /// The number of callbacks that this part resends.
    pub replayed: i64,
    /// The number of the last entry that this part examined, if there are more.
    pub next: Option<i64>,
    /// The end of the replayed period in UNIX seconds. It is the same for all further parts.
    pub until: i64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Command as _;
    use domain::model::{
        AppId, Country,
        money::{PerUsd, Rounding},
    };

    fn conversion() -> Conversion {
        Conversion {
            nonce: Bytes(vec![255; 12]),
            click: Click {
                offer: "o-1".into(),
                goal: "g-1".into(),
                app: AppId::parse("00000042").unwrap(),
                shard: 7,
                offer_terms: 1_768_478_400,
                app_terms: 1_768_478_401,
                user_id: "u".into(),
                gaid: Some("g".into()),
                idfa: None,
                custom: [Some("c".into()), None, None, None, None],
                placement: None,
                country: Country::parse("DE"),
                clicked_at_ms: 1_768_478_400_123,
            },
            advertiser: AdvertiserId::parse("brand"),
            goal: Some("purchase".into()),
            txn: None,
            event: Event::Postback(Status::Approved),
            reason: None,
            despite: Vec::new(),
            received_ms: None,
            is_to_be_held: false,
            current: Current { offer: None, app: None, is_recent: true },
        }
    }

    #[test]
    fn answers_are_read_as_the_answer_type_of_their_operation() {
        let answers = [
            (Status::Approved, "approved"),
            (Status::Pending, "pending"),
            (Status::Rejected, "rejected"),
            (Status::Reversed, "reversed"),
        ];
        for (status, name) in answers {
            let answer = Answer { transaction_id: "t".into(), status, duplicate: status == Status::Pending };
            let json = serde_json::to_string(&Reply::Answer(answer.clone())).unwrap();
            let duplicate = status == Status::Pending;
            assert_eq!(json, format!(r#"{{"transaction_id":"t","status":"{name}","duplicate":{duplicate}}}"#));
            assert_eq!(serde_json::from_str::<Answer>(&json).unwrap(), answer);
        }
        let reply = operation::OperatorReply { status: 200, body: "{}".into() };
        let json = serde_json::to_string(&Reply::Operator(reply.clone())).unwrap();
        assert_eq!(json, r#"{"status":200,"body":"{}"}"#);
        assert_eq!(serde_json::from_str::<operation::OperatorReply>(&json).unwrap(), reply);
        assert_eq!(serde_json::to_string(&Reply::Done {}).unwrap(), "{}");
    }

    #[test]
    fn commands_that_send_a_callback_are_not_retried() {
        let id = || "t".to_owned();
        assert_ne!(Command::Convert(Box::new(conversion())).repeat(), Repeat::Once);
        assert_ne!(Command::Erase(Erase { user_id: id(), is_witness: false }).repeat(), Repeat::Once);
        assert_eq!(Command::Replay(Replay { transaction_id: id() }).repeat(), Repeat::Once);
        let test = Test {
            currency: CurrencyRate { name: "Gems".into(), per_usd: PerUsd(1), decimals: 0, rounding: Rounding::Down },
            callback: CallbackSettings::default(),
        };
        let Test { currency, callback } = test.clone();
        assert_eq!(Command::Test(test).repeat(), Repeat::Once);
        let diagnose = Diagnose { currency, callback, sign_with: SignWith::Wrong };
        assert_eq!(Command::Diagnose(diagnose).repeat(), Repeat::Once);
    }
}
