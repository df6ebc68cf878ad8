//! Accounts of people: one account of each publisher, and one of the operator. A member signs in with a one-time
//! [`invite`] the first time and with a passkey ([`webauthn`]) from then on. A [`session`] follows, and a [`role`] has
//! its [`permission`]s. A browser may hold [sessions](browser_sessions) of several accounts.

pub mod account;
pub mod browser_sessions;
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
