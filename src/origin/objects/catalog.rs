//! The catalog: one object, the source of truth for publishers, apps, advertisers, offers and goals. The operator's
//! interface writes to the catalog, and the catalog publishes the snapshots that the edge reads.

pub mod account_sync;
pub mod app_claims;
mod apps;
pub mod callback_sync;
pub mod cap_sync;
mod entered_terms;
pub mod import;
pub mod import_claims;
pub mod import_steps;
pub mod kv_writer;
pub mod lasting;
mod list_filter;
pub mod listing_room;
#[cfg(target_arch = "wasm32")]
mod object;
pub mod offer_figures;
pub mod own_apps;
pub mod pub_key_requests;
pub mod publication;
mod reads;
pub mod resealing;
mod resource_tables;
pub mod resources;
mod restored;
pub mod revisions;
pub mod schedule;
pub mod schema;
pub mod search;
pub mod service;
pub mod snapshots;
pub mod sql;
mod steps;
pub mod terms;
pub mod tokens;
mod tracking_rows;
pub mod tracking_slots;
pub mod waiting;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

use contract::{
    catalog::{
        CheckOffer, Command, CountWaiting, Get, GetAppOffering, GetAppSettings, GetPubKey, GetPubKeyRequest, GetStatus,
        IssuePubKey, IssueToken, KnownPublishers, ListNearCaps, ListOfferOutboxes, ListPubKeyRequests, ListTerms,
        ReadHealth, ReadOfferFigures, Resource, RevokeToken, Search,
    },
    operation::OperatorReply,
};
use domain::{
    callbacks::guard::Guard,
    model::{ApiError, MacKeys, Vault},
};
use platform::{Database, Failure, Result, database::json as as_json};

/// The time, randomness, encryption and rule for callback URLs that a command uses.
pub struct Context<'a> {
    pub now_ms: i64,
    pub random: &'a dyn Fn() -> Result<[u8; 32], String>,
    /// Seals values that only the origin reads.
    pub vault: &'a Vault,
    /// Seals values that the edge reads from the snapshot.
    pub edge_vault: &'a Vault,
    pub token_mac: &'a MacKeys,
    pub guard: &'a Guard,
    /// The import that is being checked or applied.
    pub import: Option<i64>,
    /// True if the command replays a change of the register after a restore.
    pub is_repeat: bool,
}

impl Context<'_> {
    /// Returns `N` fresh random bytes, at most 32.
    fn random<const N: usize>(&self) -> Result<[u8; N]> {
        let random = (self.random)().map_err(Failure::Internal)?;
        let mut bytes = [0; N];
        bytes.iter_mut().zip(random).for_each(|(to, from)| *to = from);
        Ok(bytes)
    }

    /// Parses the document of a write. A document that the register replays was accepted before, maybe by newer code,
    /// so it is not checked again.
    fn read<T: DeserializeOwned>(&self, body: &str, parse: fn(&str) -> Result<T, ApiError>) -> Result<T> {
        if self.is_repeat {
            return serde_json::from_str(body).map_err(|error| Failure::Internal(error.to_string()));
        }
        Ok(parse(body)?)
    }

    /// Seals a value for `purpose` with a fresh nonce.
    fn seal(&self, vault: &Vault, purpose: &str, plain: impl AsRef<[u8]>) -> Result<Vec<u8>> {
        vault
            .seal(purpose, plain.as_ref(), self.random()?)
            .ok_or_else(|| Failure::Internal(format!("{purpose} was not encrypted: there is no key")))
    }
}

fn answer(body: &impl Serialize) -> Result<OperatorReply> {
    Ok(OperatorReply::new(200, as_json(body)?))
}

/// Carries out one command.
pub fn handle(db: &impl Database, context: &Context<'_>, command: Command) -> Result<OperatorReply> {
    match command {
        Command::Put(put) => resources::put_one(db, context, &put),
        Command::Get(Get { resource, id }) => reads::get(db, resource, &id),
        Command::List(list) => reads::list(db, context, &list),
        Command::IssuePubKey(IssuePubKey { publisher_id }) => tokens::issue_pub_key(db, context, &publisher_id),
        Command::GetPubKey(GetPubKey { publisher_id }) => tokens::pub_key(db, context, &publisher_id),
        Command::RequestPubKey(request) => pub_key_requests::open(db, context.now_ms, &request),
        Command::GetPubKeyRequest(GetPubKeyRequest { publisher_id }) => {
            let request = pub_key_requests::get(db, &publisher_id)?;
            Ok(OperatorReply::ok(&json!({ "request": request })))
        }
        Command::ListPubKeyRequests(ListPubKeyRequests {}) => pub_key_requests::list(db),
        Command::IssueToken(IssueToken { advertiser_id }) => tokens::issue_token(db, context, &advertiser_id),
        Command::RevokeToken(RevokeToken { advertiser_id, token_id }) => {
            tokens::revoke_token(db, context, &advertiser_id, &token_id)
        }
        Command::ListOwnApps(command) => own_apps::list(db, &command),
        Command::GetOwnApp(command) => own_apps::get(db, context, &command),
        Command::CreateOwnApp(command) => own_apps::create(db, context, &command),
        Command::PutTestApp(command) => own_apps::put_test(db, context, &command),
        Command::ChangeOwnApp(command) => own_apps::change(db, context, &command),
        Command::AppNames(command) => reads::app_names(db, &command),
        Command::PublisherOutboxes(command) => reads::publisher_outboxes(db, &command),
        Command::OfferTerms(question) => terms::of_offer(db, context, &question),
        Command::AppTerms(question) => terms::of_app(db, context, &question),
        Command::AppSettings(GetAppSettings { app_id }) => apps::settings(db, app_id),
        Command::AppOffering(GetAppOffering { app_id }) => answer(&apps::offering(db, app_id)?),
        Command::TestOffers(list) => apps::test_offers(db, &list),
        // The service answers `Status` itself, because only the service knows the size of the database.
        Command::Status(GetStatus {}) => publication::status(db, 0),
        Command::Health(ReadHealth {}) => publication::health(db),
        Command::Search(Search { text }) => search::search(db, context, &text),
        Command::KnownPublishers(KnownPublishers { publisher_ids }) => reads::known_publishers(db, &publisher_ids),
        Command::Terms(ListTerms { offer_id }) => terms::list(db, &offer_id),
        Command::OfferOutboxes(ListOfferOutboxes { offer_id }) => cap_sync::list_outboxes(db, &offer_id),
        Command::EnterTerms(command) => entered_terms::enter(db, context, &command),
        Command::OfferFigures(ReadOfferFigures { offer_ids }) => offer_figures::read(db, context.now_ms, &offer_ids),
        // The service answers `NearCaps` itself, in steps.
        Command::NearCaps(ListNearCaps {}) => offer_figures::NearCaps::default().finish(db),
        Command::CountWaiting(CountWaiting {}) => reads::count_waiting(db, 0),
        Command::Earning(command) => reads::earning(db, command),
        Command::OfferNames(command) => reads::offer_names(db, &command),
        Command::CheckOffer(CheckOffer { offer_id, body }) => {
            resources::would_put(db, context, Resource::Offer, offer_id.as_str(), &body)
        }
    }
}
