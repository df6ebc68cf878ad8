//! Signpost's rules as pure functions. The crate has no Workers types, clock, randomness or I/O: time and random bytes
//! are arguments. So every rule builds natively and is tested natively.
//!
//! - [`model`]: identifiers, money, countries, time, credentials, errors;
//! - [`catalog`]: publishers, apps, advertisers, offers; [`snapshot`]: their snapshots that the edge reads;
//! - [`offers`]: the offers request, its filters, its pages;
//! - [`tracking`]: click parameters, the sealed click, redirect templates; [`clicks`]: the answer to a click;
//! - [`conversions`]: the postback, the states of a conversion, the reward;
//! - [`callbacks`]: the completion callback, its signature, its schedule;
//! - [`reporting`]: the report query, facts, segments, and the engine that aggregates them;
//! - [`accounts`]: members, roles, invites, sessions and passkeys of publishers and the operator.

#![cfg_attr(not(test), warn(missing_docs))]

pub mod accounts;
pub mod callbacks;
pub mod catalog;
pub mod clicks;
pub mod conversions;
pub mod model;
pub mod offers;
pub mod reporting;
pub mod snapshot;
pub mod tracking;
