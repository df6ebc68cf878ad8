//! The limit of placements, which users can choose by a click's parameter.

/// Maximum placements of an app on a day that are reported separately.
pub const MAX_PLACEMENTS: usize = 200;
/// The placement that combines all others.
pub const OTHER_PLACEMENT: &str = "other";
