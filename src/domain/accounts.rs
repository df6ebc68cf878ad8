//! Accounts of people: one for each publisher, and one for the operator. A member first signs in with a one-time
//! [`invite`] and from then on with a passkey ([`webauthn`]). A sign-in opens a [`session`]; the member's [`role`]
//! decides its [`permission`]s. A browser may hold [sessions](browser_sessions) of several accounts.

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
