//! Parses CSV lines strictly by RFC 4180. Libraries guess the meaning of a misplaced quote (`a"b`, `"a"b`, an unclosed
//! quote), and a guess can shift the columns. A field cannot span lines, since no value contains a control character.

use std::fmt;

use super::{
    column::{COLUMNS, Cells, ColumnKind, index_of},
    problem::{Problem, bare},
};

/// The first line of an upload.
#[derive(Debug)]
pub struct Header {
    /// The index of each field in [`COLUMNS`].
    columns: Vec<usize>,
}

impl Header {
    /// Parses the header. Every column must appear once, except that `app_name` is optional. The date is also optional
    /// if `day` says that the upload is for one day.
    pub fn read(line: &str, day: bool) -> Result<Self, Vec<Problem>> {
        let (mut names, mut problems) = (Vec::new(), Vec::new());
        split(line, |field| {
            let mut name = String::new();
            // No column name has a doubled quote; unescaping is only for the error message.
            let _ = unescape(field.text, &mut name);
            names.push(name);
        })
        .map_err(|fault| vec![Problem::of_line(fault.to_string())])?;
        let mut columns = Vec::new();
        for name in &names {
            match index_of(name, columns.len()) {
                None => problems.push(Problem::of_column(bare(name), "is not a column of facts")),
                Some(index) if columns.contains(&index) => {
                    problems.push(Problem::of_column(bare(name), "appears more than once"));
                }
                Some(index) => columns.push(index),
            }
        }
        for (index, column) in COLUMNS.iter().enumerate() {
            let optional = column.kind == ColumnKind::AppName || (column.kind == ColumnKind::Date && day);
            if !optional && !columns.contains(&index) {
                problems.push(Problem::of_column(column.name, "is missing from the header"));
            }
        }
        if problems.is_empty() { Ok(Self { columns }) } else { Err(problems) }
    }

    /// Splits a row into its cells.
    pub fn cells<'l>(&self, line: &'l str) -> Result<Cells<'l>, Problem> {
        let mut cells = Cells::default();
        let mut columns = self.columns.iter();
        let mut fields = 0;
        split(line, |field| {
            fields += 1;
            if let Some(&index) = columns.next() {
                cells.set(index, field.text, field.escaped);
            }
        })
        .map_err(|fault| {
            let column = self.columns.get(fault.field).and_then(|&at| COLUMNS.get(at));
            match column {
                Some(column) => Problem::of_column(column.name, fault.problem),
                None => Problem::of_line(fault.to_string()),
            }
        })?;
        if fields == self.columns.len() {
            Ok(cells)
        } else {
            let named = self.columns.len();
            Err(Problem::of_line(format!(
                "has {fields} {}, but the header has {named}",
                if fields == 1 { "field" } else { "fields" }
            )))
        }
    }
}

/// Replaces each doubled quote of a field by one quote.
pub fn unescape(text: &str, out: &mut String) -> Result<(), String> {
    for (at, part) in text.split("\"\"").enumerate() {
        if at > 0 {
            out.push('"');
        }
        out.push_str(part);
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Field<'l> {
    /// The text without the quotes around it.
    text: &'l str,
    /// True if the text has doubled quotes.
    escaped: bool,
}

/// The place where a line is not CSV, and the reason.
struct Fault {
    /// The index of the field, from 0.
    field: usize,
    problem: &'static str,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "field {} {}", self.field + 1, self.problem)
    }
}

/// Splits a line into its fields.
fn split<'l>(line: &'l str, mut each: impl FnMut(Field<'l>)) -> Result<(), Fault> {
    let mut rest = line;
    for field in 0.. {
        let fault = |problem| Fault { field, problem };
        let (found, after) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let (found, after) =
                    split_quoted(quoted).ok_or_else(|| fault("has a quote that is not closed on its line"))?;
                if !matches!(after.as_bytes().first(), None | Some(b',')) {
                    return Err(fault("has text after its closing quote"));
                }
                (found, after)
            }
            None => {
                let end = rest.bytes().position(|byte| matches!(byte, b',' | b'"' | b'\r')).unwrap_or(rest.len());
                let (text, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
                match after.as_bytes().first() {
                    Some(b'"') => return Err(fault("has a quote but does not begin with one")),
                    Some(b'\r') => return Err(fault("has a carriage return inside the line")),
                    _ => (Field { text, escaped: false }, after),
                }
            }
        };
        each(found);
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None => break,
        }
    }
    Ok(())
}

/// Splits the text after an opening quote into the field and the rest after its closing quote. `None` without a closing
/// quote.
fn split_quoted(quoted: &str) -> Option<(Field<'_>, &str)> {
    let (mut from, mut escaped) = (0, false);
    loop {
        let end = from + quoted.get(from..)?.find('"')?;
        let after = quoted.get(end + 1..)?;
        if after.starts_with('"') {
            escaped = true;
            from = end + 2;
        } else {
            let text = quoted.get(..end)?;
            return Some((Field { text, escaped }, after));
        }
    }
}
