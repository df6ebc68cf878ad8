//! The origin Worker: the Durable Objects, the operator's interface, and those of the dashboard and the console.
//!
//! A layer uses those below it: [`http`], [`objects`], [`delivery`], and then the crate [`platform`].

pub mod delivery;
pub mod http;
pub mod objects;
