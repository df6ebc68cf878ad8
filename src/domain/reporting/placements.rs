//! The limit of placements, which users can choose by a click's parameter.

/// Placements of an app and day that are reported separately.
pub const MAX_PLACEMENTS: usize = 200;
/// The placement that sums up all others.
pub const OTHER_PLACEMENT: &str = "other";
