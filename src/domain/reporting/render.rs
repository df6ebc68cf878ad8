//! Writes a page as the body of an answer in chunks, so that memory holds only the page and one chunk.
//! docs/SPEC.md, "Report response".

mod length;

pub use length::BodyLength;

use std::{borrow::Cow, collections::HashMap};

use super::{
    Dimension,
    format::Format,
    numbers::Number,
    page::{Page, Row},
};

/// A chunk ends with the row that reaches this many bytes.
const CHUNK: usize = 64 << 10;
/// Extra capacity for the last row of a chunk, enough for all but the longest rows.
const ROW: usize = 1 << 10;

/// Written at the start of a CSV file. Without it, spreadsheets read the file in the encoding of the machine.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The text that is shown for an app without a name.
const UNNAMED: &str = "unknown";

/// An iterator over the chunks of a body. No chunk is empty.
pub struct Renderer {
    page: Page,
    format: Format,
    /// Names of apps by id, escaped for the format.
    names: HashMap<String, String>,
    unnamed: String,
    /// The names of the dimensions, then of the metrics, each as a JSON key with quotes and colon.
    keys: Vec<String>,
    /// True if the head of a body precedes the first row.
    has_head: bool,
    chunk: usize,
    /// The index of the next row; `None` after the last.
    next: Option<usize>,
}

impl Renderer {
    /// `names` maps the id of an app to its name.
    pub fn new(page: Page, format: Format, names: HashMap<String, String>) -> Self {
        let quoted = |text: &str| match format {
            Format::Json | Format::Ndjson => json_string(text),
            Format::Csv => csv_field(text).into_owned(),
            Format::SpreadsheetCsv => spreadsheet_field(text).into_owned(),
        };
        // The app's name is a separate member after its id.
        let keys = columns(&page, "app_id").map(|name| format!("\"{name}\":"));
        Self {
            keys: keys.collect(),
            names: names.into_iter().map(|(app, name)| (app, quoted(&name))).collect(),
            unnamed: quoted(UNNAMED),
            page,
            format,
            has_head: true,
            chunk: CHUNK,
            next: Some(0),
        }
    }

    /// The rest of the body as one chunk.
    pub fn whole(mut self) -> Vec<u8> {
        // Keys and punctuation take about as much as the values.
        let mut out = String::with_capacity(self.page.bytes() * 2 + ROW);
        self.write(&mut out, usize::MAX);
        out.into_bytes()
    }

    /// A piece of a longer body: rows from the index `from` until the piece has `min_bytes`. Also returns the number of
    /// these rows. Only the first piece has the head.
    pub fn piece(mut self, from: usize, is_first: bool, min_bytes: usize) -> (Vec<u8>, usize) {
        let mut out = String::new();
        self.next = Some(from);
        self.has_head = is_first;
        self.write(&mut out, min_bytes);
        let end = self.next.unwrap_or(self.page.rows());
        (out.into_bytes(), end.saturating_sub(from))
    }

    /// Writes rows until `out` has `min_bytes`, or no row is left.
    fn write(&mut self, out: &mut String, min_bytes: usize) {
        let Some(mut at) = self.next else {
            return;
        };
        if at == 0 && self.has_head {
            self.begin(out);
        }
        self.next = loop {
            let Some(row) = self.page.row(at) else {
                self.end(out);
                break None;
            };
            self.row(row, at == 0, out);
            at += 1;
            if out.len() >= min_bytes {
                break Some(at);
            }
        };
    }

    fn begin(&self, out: &mut String) {
        match self.format {
            Format::Json => out.push_str("{\"rows\":["),
            Format::Ndjson => {}
            Format::Csv | Format::SpreadsheetCsv => {
                if self.format == Format::SpreadsheetCsv {
                    out.push(BYTE_ORDER_MARK);
                }
                let columns: Vec<_> = columns(&self.page, "app_id,app_name").collect();
                out.push_str(&columns.join(","));
                out.push_str("\r\n");
            }
        }
    }

    fn row(&self, row: Row<'_>, first: bool, out: &mut String) {
        match self.format {
            Format::Json => {
                if !first {
                    out.push(',');
                }
                self.object(row, out);
            }
            Format::Ndjson => {
                self.object(row, out);
                out.push('\n');
            }
            Format::Csv => self.record(row, csv_field, out),
            Format::SpreadsheetCsv => self.record(row, spreadsheet_field, out),
        }
    }

    fn end(&self, out: &mut String) {
        if self.format == Format::Json {
            out.push_str("]}");
        }
    }

    /// Writes a JSON row without the numbers that are zero.
    fn object(&self, row: Row<'_>, out: &mut String) {
        let mut separator = '{';
        let mut keys = self.keys.iter();
        for ((index, dimension), key) in self.page.dimensions.iter().enumerate().zip(&mut keys) {
            let value = row.value(index).unwrap_or_default();
            out.push(separator);
            out.push_str(key);
            push_json_string(value, out);
            if *dimension == Dimension::App {
                out.push_str(",\"app\":{\"name\":");
                out.push_str(self.name(value));
                out.push('}');
            }
            separator = ',';
        }
        for (metric, key) in self.page.metrics.iter().zip(keys) {
            let number = Number::of(*metric, row.sums);
            if !number.is_zero() {
                out.push(separator);
                out.push_str(key);
                number.write(out);
                separator = ',';
            }
        }
        if separator == '{' {
            out.push('{');
        }
        out.push('}');
    }

    /// Writes a CSV row (RFC 4180) with all columns. `field` writes a text. Numbers need no quotes, and spreadsheets
    /// recognize dates.
    fn record(&self, row: Row<'_>, field: fn(&str) -> Cow<'_, str>, out: &mut String) {
        for (index, dimension) in self.page.dimensions.iter().enumerate() {
            let value = row.value(index).unwrap_or_default();
            let is_date = *dimension == Dimension::Date;
            out.push_str(&if is_date { csv_field(value) } else { field(value) });
            out.push(',');
            if *dimension == Dimension::App {
                out.push_str(self.name(value));
                out.push(',');
            }
        }
        for metric in &self.page.metrics {
            Number::of(*metric, row.sums).write(out);
            out.push(',');
        }
        // Drops the last comma.
        out.pop();
        out.push_str("\r\n");
    }

    fn name(&self, app: &str) -> &str {
        self.names.get(app).unwrap_or(&self.unnamed)
    }
}

impl Iterator for Renderer {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        self.next?;
        let mut out = String::with_capacity(self.chunk + ROW);
        self.write(&mut out, self.chunk);
        (!out.is_empty()).then(|| out.into_bytes())
    }
}

/// The names of the dimensions, then of the metrics. `app` is used as the name of the dimension `app`.
fn columns(page: &Page, app: &'static str) -> impl Iterator<Item = &'static str> {
    let dimensions = page.dimensions.iter().map(move |dimension| match dimension {
        Dimension::App => app,
        dimension => dimension.as_str(),
    });
    dimensions.chain(page.metrics.iter().map(|metric| metric.as_str()))
}

fn json_string(text: &str) -> String {
    let mut out = String::new();
    push_json_string(text, &mut out);
    out
}

fn push_json_string(text: &str, out: &mut String) {
    let special = |byte: u8| byte < b' ' || byte == b'"' || byte == b'\\';
    if text.bytes().any(special) {
        out.push_str(&serde_json::Value::from(text).to_string());
    } else {
        out.push('"');
        out.push_str(text);
        out.push('"');
    }
}

fn csv_field(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\r', '\n']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}

/// Writes a text so that spreadsheets keep it as text and no two texts look alike. A text that could run as a formula
/// gets a leading `'`, which remains when the sheet is saved as CSV. A text that could be read as a number, a date or a
/// boolean becomes the formula `="…"`. Metrics are not written with this function: even a negative metric must stay a
/// number, so that sums in the sheet include it.
fn spreadsheet_field(text: &str) -> Cow<'_, str> {
    let is_sign = |first: char| first.is_whitespace() || first.is_control() || "'=+-@＝＋－＠".contains(first);
    let mark = if text.starts_with(is_sign) { "'" } else { "" };
    let is_truth = ["true", "false"].iter().any(|truth| truth.eq_ignore_ascii_case(text));
    if text.starts_with(char::is_alphabetic) && !text.contains(char::is_numeric) && !is_truth {
        return csv_field(text);
    }
    let constant = text.replace('"', "\"\"");
    Cow::Owned(csv_field(&format!("=\"{mark}{constant}\"")).into_owned())
}

#[cfg(test)]
mod tests;
