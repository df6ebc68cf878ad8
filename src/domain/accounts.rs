//! Accounts of people: one account of each publisher, and one of the operator. A member signs in with a one-time
//! [`invite`] the first time and with a passkey ([`webauthn`]) from then on. A [`session`] follows, and a [`role`] has
//! its [`permission`]s.

pub mod account;
pub mod challenge;
pub mod cookie;
pub mod ids;
pub mod invite;
pub mod member;
pub mod permission;
pub mod role;
pub mod session;
mod signed_text;
pub mod user_handle;
pub mod webauthn;

/// The setting that holds the MAC keys of invites, sessions, challenges and user handles.
pub const SETTING: &str = "ACCOUNT_MAC";
