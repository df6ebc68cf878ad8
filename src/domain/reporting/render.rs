//! Writes a page as the body of an answer, piece by piece, so that of an answer no more than its page and one piece is
//! in memory. The rows are the specification's 2.2.

use std::{borrow::Cow, collections::HashMap};

use super::{
    Dimension,
    format::Format,
    numbers::Number,
    page::{Page, Row},
};

/// A piece of a body ends with the row that reaches this many bytes.
const CHUNK: usize = 64 << 10;
/// Room for the row that passes it, but for the longest values.
const ROW: usize = 1 << 10;

/// What stands for the name of an app that has none.
const UNNAMED: &str = "unknown";

/// The pieces of a body, one after the other. None of them is empty.
pub struct Renderer {
    page: Page,
    format: Format,
    /// By an app's id its name, written as the format has it.
    names: HashMap<String, String>,
    unnamed: String,
    /// The dimensions' and then the metrics' names, each with what JSON puts around it.
    keys: Vec<String>,
    chunk: usize,
    /// The row to be written next; none after the last.
    next: Option<usize>,
}

impl Renderer {
    /// `names`: by the id of an app, its name.
    pub fn new(page: Page, format: Format, names: HashMap<String, String>) -> Self {
        let quoted = |text: &str| match format {
            Format::Json | Format::Ndjson => json_string(text),
            Format::Csv => csv_field(text).into_owned(),
        };
        let dimensions = page.dimensions.iter().map(|dimension| match dimension {
            // The name of the app follows it.
            Dimension::App => "app_id",
            dimension => dimension.name(),
        });
        let metrics = page.metrics.iter().map(|metric| metric.name());
        Self {
            keys: dimensions
                .chain(metrics)
                .map(|name| format!("\"{name}\":"))
                .collect(),
            names: names
                .into_iter()
                .map(|(app, name)| (app, quoted(&name)))
                .collect(),
            unnamed: quoted(UNNAMED),
            page,
            format,
            chunk: CHUNK,
            next: Some(0),
        }
    }

    /// All that is left, as one piece.
    pub fn whole(mut self) -> Vec<u8> {
        // What stands around the values is about as much as they are.
        let mut out = String::with_capacity(self.page.bytes() * 2 + ROW);
        self.write(&mut out, usize::MAX);
        out.into_bytes()
    }

    /// Writes rows until there are so many bytes, or none is left.
    fn write(&mut self, out: &mut String, enough: usize) {
        let Some(mut at) = self.next else {
            return;
        };
        if at == 0 {
            self.begin(out);
        }
        self.next = loop {
            let Some(row) = self.page.row(at) else {
                self.end(out);
                break None;
            };
            self.row(row, at == 0, out);
            at += 1;
            if out.len() >= enough {
                break Some(at);
            }
        };
    }

    fn begin(&self, out: &mut String) {
        match self.format {
            Format::Json => out.push_str("{\"rows\":["),
            Format::Ndjson => {}
            Format::Csv => {
                let dimensions = self.page.dimensions.iter().map(|dimension| match dimension {
                    Dimension::App => "app_id,app_name",
                    dimension => dimension.name(),
                });
                let metrics = self.page.metrics.iter().map(|metric| metric.name());
                out.push_str(&dimensions.chain(metrics).collect::<Vec<_>>().join(","));
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
            Format::Csv => self.record(row, out),
        }
    }

    fn end(&self, out: &mut String) {
        if self.format == Format::Json {
            out.push_str("]}");
        }
    }

    /// A row in JSON, without the numbers that are zero.
    fn object(&self, row: Row<'_>, out: &mut String) {
        let mut before = '{';
        let mut keys = self.keys.iter();
        for ((place, dimension), key) in self.page.dimensions.iter().enumerate().zip(&mut keys) {
            let value = row.value(place).unwrap_or_default();
            out.push(before);
            out.push_str(key);
            push_json_string(value, out);
            if *dimension == Dimension::App {
                out.push_str(",\"app\":{\"name\":");
                out.push_str(self.name(value));
                out.push('}');
            }
            before = ',';
        }
        for (metric, key) in self.page.metrics.iter().zip(keys) {
            let number = Number::of(*metric, row.sums);
            if !number.is_zero() {
                out.push(before);
                out.push_str(key);
                number.write(out);
                before = ',';
            }
        }
        if before == '{' {
            out.push('{');
        }
        out.push('}');
    }

    /// A row in CSV, with all its columns: RFC 4180.
    fn record(&self, row: Row<'_>, out: &mut String) {
        for (place, dimension) in self.page.dimensions.iter().enumerate() {
            let value = row.value(place).unwrap_or_default();
            out.push_str(&csv_field(value));
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
        // The last comma.
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

#[cfg(test)]
mod tests;
