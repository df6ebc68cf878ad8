//! The entries of a ledger's [register](crate::delivery::register): changes that a restore must not undo.

use serde::{Deserialize, Serialize};

use contract::{
    ledger::{DayChange, KeyCreator},
    operation::Bytes,
};
use domain::{model::UtcDay, reporting::keys::Scope};

/// An entry of the register.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lasting {
    Key(Key),
    RevokedKey(String),
    /// The revision that suspended all keys, or the negative revision that ended the suspension.
    Suspension(i64),
    /// The operator has loaded facts of these days.
    Loaded(Vec<UtcDay>),
    /// A final day has changed.
    Changed(DayChange),
}

/// A stored key.
#[derive(Debug, Serialize, Deserialize)]
pub struct Key {
    pub hash: Bytes,
    pub key_id: String,
    pub label: String,
    pub created_ms: i64,
    pub by: Option<KeyCreator>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub scope: Scope,
}

fn is_default(scope: &Scope) -> bool {
    *scope == Scope::default()
}
