//! stub
/// The longest a short click id may be, in characters.
pub const SHORT_MAX: usize = 50;
/// The longest click id an offer may allow, in characters.
pub const LONGEST: usize = 1_000;
