//! Bodies that are read a line at a time, imports and facts: cutting a stream into lines, and telling the caller which of
//! them are wrong. Such a body may be far larger than an isolate has room for, so a line is all that is ever kept of it.

use std::{borrow::Cow, fmt, io::BufRead};

use serde::Serialize;
use serde_json::json;

use crate::model::api_error::ApiError;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
/// What stands around a line without being part of it: a byte order mark before and a carriage return behind.
const AROUND: usize = BYTE_ORDER_MARK.len() + 1;
/// How many wrong lines an answer names.
const MAX_NAMED: usize = 20;

/// Cuts a stream that arrives in chunks of any size into lines. `\n` and `\r\n` end a line, the end of the body too; a
/// byte order mark at the start of the body is left out.
#[derive(Debug)]
pub struct Lines {
    max: usize,
    /// Of the line that is being read, counted from 1.
    number: i64,
    /// What earlier chunks brought of it.
    pending: Vec<u8>,
    too_long: bool,
}

/// A line that is longer than it may be, so that it was not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// The longest that a line may be, in bytes and without what ends it.
    pub max: usize,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "is longer than {} bytes", self.max)
    }
}

impl Lines {
    /// `max` is the longest that a line may be, in bytes and without what ends it.
    pub fn new(max: usize) -> Self {
        Self {
            max,
            number: 1,
            pending: Vec::new(),
            too_long: false,
        }
    }

    /// Hands on the lines that end in a chunk, with their numbers, counted from 1. An error that `each` gives ends it:
    /// nothing is to be pushed after one.
    pub fn push<E>(
        &mut self,
        mut chunk: &[u8],
        mut each: impl FnMut(i64, Result<&[u8], TooLong>) -> Result<(), E>,
    ) -> Result<(), E> {
        while !chunk.is_empty() {
            let part = take_line(&mut chunk);
            let Some(line) = part.strip_suffix(b"\n") else {
                self.keep(part);
                break;
            };
            if self.pending.is_empty() && !self.too_long {
                self.hand_on(line, true, &mut each)?;
            } else {
                self.keep(line);
                self.hand_on_pending(true, &mut each)?;
            }
            self.number += 1;
        }
        Ok(())
    }

    /// Hands on the last line, if the body does not end with the end of one.
    pub fn finish<E>(
        mut self,
        mut each: impl FnMut(i64, Result<&[u8], TooLong>) -> Result<(), E>,
    ) -> Result<(), E> {
        let nothing = self.pending.is_empty() || (self.number == 1 && self.pending == BYTE_ORDER_MARK);
        if nothing && !self.too_long {
            return Ok(());
        }
        self.hand_on_pending(false, &mut each)
    }

    fn keep(&mut self, part: &[u8]) {
        self.too_long |= self.pending.len() + part.len() > self.max.saturating_add(AROUND);
        if self.too_long {
            self.pending.clear();
        } else {
            self.pending.extend_from_slice(part);
        }
    }

    fn hand_on_pending<E>(
        &mut self,
        ended: bool,
        each: &mut impl FnMut(i64, Result<&[u8], TooLong>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut pending = std::mem::take(&mut self.pending);
        let handed = if std::mem::take(&mut self.too_long) {
            each(self.number, Err(TooLong { max: self.max }))
        } else {
            self.hand_on(&pending, ended, each)
        };
        // Its room is used for the next line that two chunks share.
        pending.clear();
        self.pending = pending;
        handed
    }

    fn hand_on<E>(
        &self,
        mut line: &[u8],
        ended: bool,
        each: &mut impl FnMut(i64, Result<&[u8], TooLong>) -> Result<(), E>,
    ) -> Result<(), E> {
        if ended {
            line = line.strip_suffix(b"\r").unwrap_or(line);
        }
        if self.number == 1 {
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        if line.len() > self.max {
            return each(self.number, Err(TooLong { max: self.max }));
        }
        each(self.number, Ok(line))
    }
}

/// Splits off what goes to the end of the line, or all if none ends.
fn take_line<'c>(chunk: &mut &'c [u8]) -> &'c [u8] {
    let before = *chunk;
    // Reading from memory cannot fail; and this is how the standard library gives its search for a byte.
    let length = chunk.skip_until(b'\n').unwrap_or(before.len());
    before.get(..length).unwrap_or(before)
}

/// A line that is wrong, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LineError {
    /// Counted from 1.
    pub line: i64,
    /// What is wrong in it, if it is one column or member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<Cow<'static, str>>,
    pub message: String,
}

/// The wrong lines of a body: the first 20 are named, in their order, and all that were read are counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineErrors {
    named: Vec<LineError>,
    count: u64,
    unread: bool,
}

impl LineErrors {
    pub fn add(&mut self, line: i64, column: Option<Cow<'static, str>>, message: impl Into<String>) {
        self.count += 1;
        // Not all readers go by lines: an import applies a kind of resource after the other.
        let place = self.named.partition_point(|error| error.line <= line);
        if place < MAX_NAMED {
            self.named.truncate(MAX_NAMED - 1);
            let message = message.into();
            self.named.insert(
                place,
                LineError {
                    line,
                    column,
                    message,
                },
            );
        }
    }

    /// The reader stops here, and the answer says that there is more.
    pub fn leave_the_rest(&mut self) {
        self.unread = true;
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether a later line would not be named any more.
    pub fn is_full(&self) -> bool {
        self.named.len() == MAX_NAMED
    }

    pub fn named(&self) -> &[LineError] {
        &self.named
    }

    /// The JSON body of the refusal that names them, `{"error": …, "code": …, "lines": [{line, column?, message}, …]}`.
    pub fn body(&self, refusal: &ApiError) -> String {
        let errors = if self.count == 1 { "error" } else { "errors" };
        let rest = if self.unread {
            ", the rest was not read"
        } else {
            ""
        };
        json!({
            "error": format!("{} ({} {errors}{rest})", refusal.message, self.count),
            "code": refusal.code,
            "lines": self.named,
        })
        .to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MAX: usize = 5;

    type Read = Vec<(i64, Result<Vec<u8>, TooLong>)>;

    fn read<'c>(chunks: impl IntoIterator<Item = &'c [u8]>) -> Read {
        let mut read = Read::new();
        let mut each = |number, line: Result<&[u8], TooLong>| {
            read.push((number, line.map(<[u8]>::to_vec)));
            Ok::<(), ()>(())
        };
        let mut lines = Lines::new(MAX);
        for chunk in chunks {
            lines.push(chunk, &mut each).unwrap();
        }
        lines.finish(&mut each).unwrap();
        read
    }

    /// The same by the whole body at once, one rule after the other.
    fn model(body: &[u8]) -> Read {
        let body = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
        let mut lines: Vec<_> = body.split(|byte| *byte == b'\n').collect();
        let last = lines.pop().filter(|last| !last.is_empty());
        let ended = lines
            .into_iter()
            .map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        (1..)
            .zip(ended.chain(last))
            .map(|(number, line)| {
                let long = line.len() > MAX;
                (
                    number,
                    if long {
                        Err(TooLong { max: MAX })
                    } else {
                        Ok(line.to_vec())
                    },
                )
            })
            .collect()
    }

    #[test]
    fn a_byte_order_mark_is_no_line_and_only_left_out_at_the_start() {
        assert_eq!(
            read([b"\xEF\xBB".as_slice(), b"\xBFa\r", b"\n\xEF\xBB\xBFb"]),
            [(1, Ok(b"a".to_vec())), (2, Ok(b"\xEF\xBB\xBFb".to_vec()))]
        );
    }

    #[test]
    fn a_line_that_is_too_long_is_not_kept() {
        let mut lines = Lines::new(MAX);
        let mut errors = 0;
        for _ in 0..1_000 {
            lines.push(b"xxxx", |_, _| Err(())).unwrap();
            assert!(lines.pending.len() <= MAX + AROUND);
        }
        lines
            .finish(|_, line| {
                errors += u32::from(line == Err(TooLong { max: MAX }));
                Ok::<(), ()>(())
            })
            .unwrap();
        assert_eq!(errors, 1);
    }

    #[test]
    fn the_first_twenty_are_named_in_their_order_and_all_are_counted() {
        let mut errors = LineErrors::default();
        for line in (1..=30).rev() {
            errors.add(line, (line == 2).then_some(Cow::Borrowed("clicks")), "is wrong");
        }
        let refusal = ApiError::new(400, "invalid_lines", "nothing was kept");
        let body: serde_json::Value = serde_json::from_str(&errors.body(&refusal)).unwrap();
        assert_eq!(body["error"], "nothing was kept (30 errors)");
        assert_eq!(body["code"], "invalid_lines");
        assert_eq!(body["lines"].as_array().unwrap().len(), MAX_NAMED);
        assert_eq!(body["lines"][0], json!({ "line": 1, "message": "is wrong" }));
        assert_eq!(
            body["lines"][1],
            json!({ "line": 2, "column": "clicks", "message": "is wrong" })
        );
        assert_eq!(body["lines"][19]["line"], 20);
    }

    #[test]
    fn an_answer_says_when_the_rest_was_not_read() {
        let mut errors = LineErrors::default();
        assert!(errors.is_empty());
        errors.add(1, None, "is wrong");
        errors.leave_the_rest();
        let refusal = ApiError::new(400, "invalid_lines", "nothing was kept");
        assert!(
            errors
                .body(&refusal)
                .contains("nothing was kept (1 error, the rest was not read)")
        );
    }

    proptest! {
        #[test]
        fn chunks_of_any_size_make_the_same_lines(
            pieces in prop::collection::vec(prop::sample::select(vec![
                "a", "bc", "\r", "\n", "\r\n", "\u{feff}", "abcd", "abcde", "é",
            ]), 0..20),
            size in 1..9_usize,
        ) {
            let body = pieces.concat();
            prop_assert_eq!(read(body.as_bytes().chunks(size)), model(body.as_bytes()));
        }
    }
}
