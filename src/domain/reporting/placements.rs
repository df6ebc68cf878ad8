//! The limit on placements. Without a limit, users could create any number of them with a parameter of clicks.

/// Maximum placements of an app on a day that are reported separately.
pub const MAX_PLACEMENTS: usize = 200;
/// The placement under which all other placements are reported.
pub const OTHER_PLACEMENT: &str = "other";
