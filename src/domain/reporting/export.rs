//! Exports: a whole result as a file. docs/DECISIONS.md, "Accounts and the dashboard".

use serde::{Deserialize, Serialize};

use super::{format::Format, query::Query};
use crate::model::{MINUTE_MS, PublisherId};

/// The time for which an export can be read after it was made. The dashboard's page reads it at once.
pub const LIFE_MS: i64 = 5 * MINUTE_MS;

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    /// The bytes of a report as CSV.
    Csv,
    /// CSV in which a spreadsheet reads no text as a formula.
    SpreadsheetCsv,
    /// One row of a report per line, as JSON.
    Ndjson,
}

impl ExportFormat {
    /// The format that the rows are rendered in.
    pub fn format(self) -> Format {
        match self {
            Self::Csv => Format::Csv,
            Self::SpreadsheetCsv => Format::SpreadsheetCsv,
            Self::Ndjson => Format::Ndjson,
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Self::Csv | Self::SpreadsheetCsv => "csv",
            Self::Ndjson => "ndjson",
        }
    }
}

/// The name of an export's file. A publisher's id has only characters that are allowed in file names.
pub fn file_name(publisher: &PublisherId, query: &Query, format: ExportFormat) -> String {
    let Query { start, end, .. } = query;
    format!("signpost-{publisher}-{start}-to-{end}.{}", format.extension())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_by_its_publisher_and_its_days() {
        let publisher = PublisherId::parse("lumen-games").unwrap();
        let query = r#"{"date_range": {"start_date": "2026-01-05", "end_date": "2026-02-01"},
            "dimensions": ["date"], "metrics": ["clicks"]}"#;
        let query = Query::parse(query).unwrap();
        for (name, extension) in [("csv", "csv"), ("spreadsheet_csv", "csv"), ("ndjson", "ndjson")] {
            let format: ExportFormat = serde_json::from_value(name.into()).unwrap();
            assert_eq!(
                file_name(&publisher, &query, format),
                format!("signpost-lumen-games-2026-01-05-to-2026-02-01.{extension}")
            );
        }
    }
}
