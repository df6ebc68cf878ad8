//! The formats of a report, chosen by the request's `Accept` header (RFC 9110, section 12.5.1), or by name for an
//! export.

/// The format of a report's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// One object with `rows`. The default.
    Json,
    /// A header line, then one row per line (RFC 4180).
    Csv,
    /// CSV in which a spreadsheet reads no text as a formula. Only exports use it.
    SpreadsheetCsv,
    /// One JSON row per line.
    Ndjson,
}

/// The media types that select a format.
const NAMES: [(&str, Format); 5] = [
    ("application/json", Format::Json),
    ("text/csv", Format::Csv),
    ("application/x-ndjson", Format::Ndjson),
    ("application/ndjson", Format::Ndjson),
    ("application/jsonl", Format::Ndjson),
];

impl Format {
    /// The format that `accept` names with the highest quality. Among formats of equal quality, JSON wins, and
    /// otherwise the first one named. If `accept` names no format, it is JSON: wildcards never select another format.
    pub fn from_accept(accept: Option<&str>) -> Self {
        let mut best = (0, Self::Json);
        for range in accept.unwrap_or_default().split(',') {
            let mut parts = range.split(';').map(str::trim);
            let name = parts.next().unwrap_or_default();
            let Some((_, format)) = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) else {
                continue;
            };
            let quality = parts.find_map(quality).unwrap_or(MAX_QUALITY);
            if quality > best.0 || quality == best.0 && *format == Self::Json {
                best = (quality, *format);
            }
        }
        best.1
    }

    /// The answer's `Content-Type`.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Csv | Self::SpreadsheetCsv => "text/csv; charset=utf-8",
            Self::Ndjson => "application/x-ndjson",
        }
    }
}

/// The highest quality, in thousandths.
const MAX_QUALITY: u16 = 1_000;

/// The quality of a parameter `q`, in thousandths; `None` for another parameter. A malformed quality counts as 0, which
/// accepts nothing.
fn quality(parameter: &str) -> Option<u16> {
    let (name, value) = parameter.split_once('=')?;
    name.eq_ignore_ascii_case("q").then(|| thousandths(value).unwrap_or(0))
}

fn thousandths(value: &str) -> Option<u16> {
    let (whole, decimals) = value.split_once('.').unwrap_or((value, ""));
    if decimals.len() > 3 || !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    match (whole, format!("{decimals:0<3}").parse().ok()?) {
        ("0", decimals) => Some(decimals),
        ("1", 0) => Some(MAX_QUALITY),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_with_the_highest_quality_is_chosen() {
        for (accept, format) in [
            ("", Format::Json),
            ("*/*", Format::Json),
            ("text/html,application/xhtml+xml,*/*;q=0.8", Format::Json),
            ("text/*", Format::Json),
            ("text/csvx", Format::Json),
            ("application/json", Format::Json),
            ("text/csv", Format::Csv),
            ("TEXT/CSV; charset=utf-8 ; header=present", Format::Csv),
            ("text/csv, */*", Format::Csv),
            ("text/csv, */*;q=0.1", Format::Csv),
            ("application/x-ndjson", Format::Ndjson),
            ("application/ndjson", Format::Ndjson),
            ("application/jsonl", Format::Ndjson),
            ("text/csv, application/json", Format::Json),
            ("application/json, text/csv", Format::Json),
            ("text/csv;q=0.9, application/json;q=0.9", Format::Json),
            ("application/json;q=0.5, text/csv", Format::Csv),
            ("application/json;q=0.5, text/csv;q=0.501", Format::Csv),
            ("application/json, text/csv;q=0.999", Format::Json),
            ("text/csv;q=0.2,application/x-ndjson;q=0.3", Format::Ndjson),
            ("application/x-ndjson,text/csv", Format::Ndjson),
            ("text/csv,application/x-ndjson", Format::Csv),
            ("text/csv;q=0", Format::Json),
            ("text/csv;q=0.000, application/x-ndjson;Q=0.001", Format::Ndjson),
            ("application/json;q=0, text/csv;q=0.001", Format::Csv),
            ("text/csv;q=1.000", Format::Csv),
            ("text/csv;q=2", Format::Json),
            ("text/csv;q=1.1", Format::Json),
            ("text/csv;q=0.0001", Format::Json),
            ("text/csv;q=-1", Format::Json),
            ("text/csv;q=", Format::Json),
            (",;,text/csv;;q=0.5;,", Format::Csv),
        ] {
            assert_eq!(Format::from_accept(Some(accept)), format, "{accept}");
        }
        assert_eq!(Format::from_accept(None), Format::Json);
    }
}
