//! A fact, and the formats of an upload.

use serde::{Deserialize, Serialize};

use crate::{
    model::UtcDay,
    reporting::{Sums, dimension::Key},
};

/// The format of an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    /// A header with the names of the columns, then one row per line.
    Csv,
    /// One JSON object per line.
    Ndjson,
}

/// A checked row of an upload. Rows with the same key are separate facts here; they add up later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact<'v> {
    /// The UTC day of the row, or of the whole upload.
    pub day: UtcDay,
    /// An unknown value is [`Dimension::unknown`](crate::reporting::Dimension::unknown). The country is in upper case.
    pub key: Key<'v>,
    /// All five measures. A row must have each measure.
    pub sums: Sums,
    /// The app's name for reports; `None` if the row has none.
    pub app_name: Option<&'v str>,
}
