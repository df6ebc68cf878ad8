//! `origin::objects::accounts` on a real SQLite: who is let in, for how long, and what the audit says of it.

mod announced;
mod audit;
mod expiry;
mod faults;
mod invites;
mod limits;
mod members;
mod model;
mod own_passkeys;
mod passkeys;
mod rates;
mod restored;
mod sessions;
mod statements;
mod suspension;
mod world;

use contract::accounts::*;
use domain::{
    accounts::{ids::MemberId, role::Role},
    model::time::{DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS},
};
use world::{Person, World, refusal};
