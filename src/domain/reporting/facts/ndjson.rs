//! Parses a line of NDJSON: an object whose members are the columns. Each value is kept as its text, so numbers stay
//! exact and nothing is allocated for a line.

use std::{borrow::Cow, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{
    column::{COLUMNS, Cells, ColumnKind, index_of},
    problem::{Problem, bare},
};
use crate::model::document::problem as problem_of;

/// Splits a line into its cells. A null member counts as missing.
pub fn cells(line: &str) -> Result<Cells<'_>, Problem> {
    let mut member = None;
    let mut json = serde_json::Deserializer::from_str(line);
    json.deserialize_map(Members { member: &mut member }).and_then(|cells| json.end().map(|()| cells)).map_err(
        |error| {
            let message = if error.is_data() && member.is_none() {
                // The message of serde would quote the whole line.
                format!("must be an object, not {}", bare(line.trim()))
            } else if error.is_data() {
                problem_of(&error)
            } else {
                format!("is not valid JSON from byte {}: {}", error.column(), problem_of(&error))
            };
            Problem { column: member, message }
        },
    )
}

/// Unescapes a JSON string, given with its quotes.
pub fn unescape(raw: &str, out: &mut String) -> Result<(), String> {
    serde_json::Deserializer::from_str(raw)
        .deserialize_str(Append(out))
        .map_err(|error| format!("is not valid JSON: {}", problem_of(&error)))
}

struct Append<'o>(&'o mut String);

impl Visitor<'_> for Append<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.0.push_str(text);
        Ok(())
    }
}

struct Members<'m> {
    /// The member that is being read, for error messages.
    member: &'m mut Option<Cow<'static, str>>,
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = Cells<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Cells<'de>, A::Error> {
        let mut cells = Cells::default();
        let (mut seen, mut near) = (0_u16, 0);
        while let Some(index) = members.next_key_seed(Name { near, member: self.member })? {
            let Some(column) = COLUMNS.get(index) else {
                continue;
            };
            *self.member = Some(Cow::Borrowed(column.name));
            if seen >> index & 1 == 1 {
                return Err(A::Error::custom("appears more than once"));
            }
            seen |= 1 << index;
            near = index + 1;
            let raw = members.next_value::<&RawValue>()?.get();
            if raw != "null" {
                let is_number = matches!(column.kind, ColumnKind::Sum(_));
                let (text, escaped) = if is_number { (raw, false) } else { text(raw)? };
                cells.set(index, text, escaped);
            }
            *self.member = None;
        }
        Ok(cells)
    }
}

/// The text of a JSON string, and whether it has escapes. A text with escapes keeps its quotes.
fn text<E: Error>(raw: &str) -> Result<(&str, bool), E> {
    let Some(text) = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')) else {
        return Err(E::custom(format_args!("must be a string, not {}", bare(raw))));
    };
    Ok(if text.contains('\\') { (raw, true) } else { (text, false) })
}

/// Reads a member's name as the index of its column.
struct Name<'m> {
    near: usize,
    member: &'m mut Option<Cow<'static, str>>,
}

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<usize, E> {
        index_of(name, self.near).ok_or_else(|| {
            *self.member = Some(Cow::Owned(bare(name)));
            E::custom("is not a column of facts")
        })
    }
}
