//! `origin/catalog`: one object, the source of truth for publishers, apps, advertisers, offers and goals, behind the
//! operator's interface. It builds the snapshots that the edge reads.

use serde::{Deserialize, Serialize};

use super::{
    command::{self, Failure},
    database::Database,
};
use crate::{callbacks::guard::Guard, catalog::credentials::Vault, refusal::Refusal};

mod apps;
pub mod changes;
#[cfg(target_arch = "wasm32")]
pub mod client;
#[cfg(target_arch = "wasm32")]
mod handing_over;
pub mod handover;
pub mod import;
pub mod limits;
#[cfg(target_arch = "wasm32")]
pub mod object;
pub mod publication;
#[cfg(target_arch = "wasm32")]
mod publishing;
pub mod resources;
pub mod schedule;
pub mod schema;
pub mod snapshots;
pub mod sql;
pub mod terms;
pub mod tokens;

pub use super::command::Reply;
pub use resources::Resource;

/// The name of the one catalog object. Changed, it would lose the catalog.
pub const OBJECT_NAME: &str = "catalog";

/// What the operator's interface asks of the catalog. All are idempotent but the two that issue a credential.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// Replaces a resource whole, or creates it. `body` is the operator's JSON.
    Put {
        resource: Resource,
        id: String,
        body: String,
    },
    Get {
        resource: Resource,
        id: String,
    },
    List {
        resource: Resource,
        limit: u32,
        cursor: Option<String>,
    },
    /// Not idempotent: each call makes the Pub-Key before it invalid.
    IssuePubKey {
        publisher_id: String,
    },
    GetPubKey {
        publisher_id: String,
    },
    /// Not idempotent: each call makes the token before last invalid.
    IssueToken {
        advertiser_id: String,
    },
    RevokeToken {
        advertiser_id: String,
        token_id: String,
    },
    /// The names of a publisher's apps, by app; for its ledger, which learns from it too whether there is such a
    /// publisher.
    AppNames {
        publisher_id: String,
    },
    /// What an app's outbox has to know to judge conversions of these offers: [`terms::Terms`]. From then on the outbox is
    /// told when the app's callback settings change.
    Terms {
        app_id: String,
        offers: Vec<String>,
        /// The change that the asker has all of them as of: a 204 says that it was the last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<i64>,
    },
    /// What the operator's metrics say of the catalog.
    Status,
}

impl command::Command for Command {
    fn is_idempotent(&self) -> bool {
        !matches!(self, Self::IssuePubKey { .. } | Self::IssueToken { .. })
    }

    fn may_be_seen(&self) -> bool {
        matches!(self, Self::Terms { .. })
    }
}

/// What a command needs besides the database: the time, a source of randomness, the keys to what is sealed, and the rule
/// of where callbacks may go.
pub struct Context<'a> {
    pub now_ms: i64,
    pub random: &'a dyn Fn() -> Result<[u8; 32], String>,
    pub vault: &'a Vault,
    pub guard: &'a Guard,
}

impl Context<'_> {
    /// Fresh random bytes, at most 32. Without them nothing is issued or sealed.
    fn random<const N: usize>(&self) -> Result<[u8; N], Failure> {
        let drawn = (self.random)().map_err(Failure::Broken)?;
        let mut bytes = [0; N];
        bytes.iter_mut().zip(drawn).for_each(|(to, from)| *to = from);
        Ok(bytes)
    }
}

/// Carries out one command.
pub fn handle(db: &impl Database, context: &Context<'_>, command: Command) -> Result<Reply, Failure> {
    match command {
        Command::Put { resource, id, body } => db.transaction(|| {
            resources::put(db, context, resources::By::Put, resource, &id, &body)?;
            resources::get(db, resource, &id)
        }),
        Command::Get { resource, id } => resources::get(db, resource, &id),
        Command::List {
            resource,
            limit,
            cursor,
        } => resources::list(db, resource, limit, cursor.as_deref()),
        Command::IssuePubKey { publisher_id } => tokens::issue_pub_key(db, context, &publisher_id),
        Command::GetPubKey { publisher_id } => tokens::pub_key(db, context, &publisher_id),
        Command::IssueToken { advertiser_id } => tokens::issue_token(db, context, &advertiser_id),
        Command::RevokeToken {
            advertiser_id,
            token_id,
        } => tokens::revoke_token(db, context, &advertiser_id, &token_id),
        Command::AppNames { publisher_id } => resources::app_names(db, &publisher_id),
        Command::Terms {
            app_id,
            offers,
            since,
        } => terms::of(db, &app_id, &offers, since),
        // The object says what it takes.
        Command::Status => publication::status(db, 0),
    }
}

/// A resource that is not there.
pub const UNKNOWN_RESOURCE: Refusal = Refusal::new(404, "not_found", "there is no such resource");
