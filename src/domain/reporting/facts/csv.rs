//! CSV by RFC 4180 to the letter. The libraries for it read a wrong quote as they think it was meant (`a"b`, `"a"b`, a
//! quote that is never closed), and a column too far to the left counts something else; so this is our own. A field
//! cannot span lines, since no value holds a control character.

use std::fmt;

use super::{
    column::{COLUMNS, Cells, Kind, place},
    problem::{Problem, bare},
};

/// What the first line says.
#[derive(Debug)]
pub struct Header {
    /// Of each field, its place in [`COLUMNS`].
    places: Vec<usize>,
}

impl Header {
    /// Every column but `app_name` must be there, once; the date only if the upload is not for one `day`.
    pub fn read(line: &str, day: bool) -> Result<Self, Vec<Problem>> {
        let (mut names, mut problems) = (Vec::new(), Vec::new());
        split(line, |field| {
            let mut name = String::new();
            // A doubled quote is in no name of a column; it is taken out to be shown.
            let _ = unescape(field.text, &mut name);
            names.push(name);
        })
        .map_err(|fault| vec![Problem::of_line(fault.to_string())])?;
        let mut places = Vec::new();
        for name in &names {
            match place(name, places.len()) {
                None => problems.push(Problem::of_column(bare(name), "is not a column of facts")),
                Some(place) if places.contains(&place) => {
                    problems.push(Problem::of_column(bare(name), "is there more than once"));
                }
                Some(place) => places.push(place),
            }
        }
        for (place, column) in COLUMNS.iter().enumerate() {
            let optional = column.kind == Kind::AppName || (column.kind == Kind::Date && day);
            if !optional && !places.contains(&place) {
                problems.push(Problem::of_column(column.name, "is missing from the header"));
            }
        }
        if problems.is_empty() {
            Ok(Self { places })
        } else {
            Err(problems)
        }
    }

    /// Takes a row apart.
    pub fn cells<'l>(&self, line: &'l str) -> Result<Cells<'l>, Problem> {
        let mut cells = Cells::default();
        let mut places = self.places.iter();
        let mut fields = 0;
        split(line, |field| {
            fields += 1;
            if let Some(&place) = places.next() {
                cells.set(place, field.text, field.escaped);
            }
        })
        .map_err(|fault| {
            let column = self.places.get(fault.field).and_then(|&place| COLUMNS.get(place));
            match column {
                Some(column) => Problem::of_column(column.name, fault.problem),
                None => Problem::of_line(fault.to_string()),
            }
        })?;
        if fields == self.places.len() {
            Ok(cells)
        } else {
            let named = self.places.len();
            Err(Problem::of_line(format!(
                "has {fields} {}, the header names {named}",
                if fields == 1 { "field" } else { "fields" }
            )))
        }
    }
}

/// Takes the doubling from the quotes of a field.
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
    /// Without the quotes around it.
    text: &'l str,
    /// Whether quotes in it are doubled.
    escaped: bool,
}

/// Where a line is not CSV, and why.
struct Fault {
    /// Counted from 0.
    field: usize,
    problem: &'static str,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "field {} {}", self.field + 1, self.problem)
    }
}

/// Cuts a line into its fields.
fn split<'l>(line: &'l str, mut each: impl FnMut(Field<'l>)) -> Result<(), Fault> {
    let mut rest = line;
    for field in 0.. {
        let fault = |problem| Fault { field, problem };
        let (found, after) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let (found, after) =
                    close(quoted).ok_or_else(|| fault("has a quote that is not closed on its line"))?;
                if !matches!(after.as_bytes().first(), None | Some(b',')) {
                    return Err(fault("has text after its closing quote"));
                }
                (found, after)
            }
            None => {
                let end = rest
                    .bytes()
                    .position(|byte| matches!(byte, b',' | b'"' | b'\r'))
                    .unwrap_or(rest.len());
                let (text, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
                match after.as_bytes().first() {
                    Some(b'"') => return Err(fault("has a quote, and does not begin with one")),
                    Some(b'\r') => return Err(fault("has a carriage return that ends no line")),
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

/// A quoted field, from behind its first quote, and what follows its last one; none if it has no last one.
fn close(quoted: &str) -> Option<(Field<'_>, &str)> {
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
