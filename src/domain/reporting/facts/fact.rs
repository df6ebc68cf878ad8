//! A fact, and the formats of an upload.

use serde::{Deserialize, Serialize};

use crate::{
    model::time::UtcDay,
    reporting::{Sums, dimension::Key},
};

/// The format of an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    Csv,
    Ndjson,
}

/// A checked row of an upload. Rows with the same key are separate facts here; they add up later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact<'v> {
    pub day: UtcDay,
    /// Unknown values are [`Dimension::unknown`](crate::reporting::Dimension::unknown). The country is upper case.
    pub key: Key<'v>,
    pub sums: Sums,
    pub app_name: Option<&'v str>,
}
