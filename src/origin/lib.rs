//! The origin Worker: the Durable Objects, and the interfaces of the operator, the dashboard and the console.
//!
//! A layer uses the layers below it. From the top they are [`http`], [`objects`], [`delivery`], and the crate
//! [`platform`].

pub mod delivery;
pub mod http;
pub mod objects;
