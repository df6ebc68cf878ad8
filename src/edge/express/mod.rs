//! The express ways: a click, and a page of offers, each in one synchronous call from `entry.js`.
//!
//! Through the module's own handler ([`super::entry`]) the two cost half as much again as the same answer from
//! JavaScript, and not for their work: every header read from here, every value handed to the runtime and the promise
//! around it all cross between JavaScript and WebAssembly. So `entry.js` reads the few things that the answer depends on,
//! and asks here before it takes the ordinary way.
//!
//! Nothing here may wait, reach for a binding or need the request's lifetime. A request that would, or that is to be
//! refused, is left as it came, uncounted, and goes the ordinary way: `None` is always a right answer. Both ways decide
//! with the same functions; what an answer depends on must be handed in, so a header that begins to matter has to be added
//! to a way's `Asked`, in `entry.js` too. A test sends the same requests both ways.

mod click;
mod offers;
