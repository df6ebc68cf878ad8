//! Streaming of line-based bodies (imports and facts): splits a stream into lines, and collects the errors of lines for
//! the response. A body may be far larger than an isolate's memory, so at most one line of it is buffered.

use std::{borrow::Cow, fmt, io::BufRead};

use serde::Serialize;
use serde_json::json;

use crate::model::api_error::ApiError;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
/// Bytes that do not count towards a line's length: a byte order mark before it and a carriage return after it.
const UNCOUNTED: usize = BYTE_ORDER_MARK.len() + 1;
/// Maximum errors that a response lists.
const MAX_LISTED: usize = 20;

/// Splits a stream that arrives in chunks of any size into lines. A line ends at `\n`, at `\r\n`, or at the end of the
/// body. A byte order mark at the start of the body is removed.
#[derive(Debug)]
pub struct Lines {
    max: usize,
    /// The number of the current line, from 1.
    number: i64,
    /// The part of the current line that earlier chunks contained.
    pending: Vec<u8>,
    too_long: bool,
}

/// A line that exceeds the limit. It was discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// The maximum length of a line in bytes, without its line end.
    pub max: usize,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "is longer than {} bytes", self.max)
    }
}

impl Lines {
    /// `max` is the maximum length of a line in bytes, without its line end.
    pub fn new(max: usize) -> Self {
        Self { max, number: 1, pending: Vec::new(), too_long: false }
    }

    /// Calls `each` for every line that ends in this chunk, with the line's number from 1. Stops at the first error of
    /// `each`; after an error, nothing more may be pushed.
    pub fn push<E>(
        &mut self,
        mut chunk: &[u8],
        mut each: impl FnMut(i64, Result<&[u8], TooLong>) -> Result<(), E>,
    ) -> Result<(), E> {
        while !chunk.is_empty() {
            let part = take_line(&mut chunk);
            let Some(line) = part.strip_suffix(b"\n") else {
                self.buffer(part);
                break;
            };
            if self.pending.is_empty() && !self.too_long {
                self.emit(line, true, &mut each)?;
            } else {
                self.buffer(line);
                self.emit_pending(true, &mut each)?;
            }
            self.number += 1;
        }
        Ok(())
    }

    /// Calls `each` for the last line if the body does not end with a line end.
    pub fn finish<E>(mut self, mut each: impl FnMut(i64, Result<&[u8], TooLong>) -> Result<(), E>) -> Result<(), E> {
        let is_empty = self.pending.is_empty() || (self.number == 1 && self.pending == BYTE_ORDER_MARK);
        if is_empty && !self.too_long {
            return Ok(());
        }
        self.emit_pending(false, &mut each)
    }

    fn buffer(&mut self, part: &[u8]) {
        self.too_long |= self.pending.len() + part.len() > self.max.saturating_add(UNCOUNTED);
        if self.too_long {
            self.pending.clear();
        } else {
            self.pending.extend_from_slice(part);
        }
    }

    fn emit_pending<E>(
        &mut self,
        ended: bool,
        each: &mut impl FnMut(i64, Result<&[u8], TooLong>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut pending = std::mem::take(&mut self.pending);
        let result = if std::mem::take(&mut self.too_long) {
            each(self.number, Err(TooLong { max: self.max }))
        } else {
            self.emit(&pending, ended, each)
        };
        // The allocation is reused for the next line that spans two chunks.
        pending.clear();
        self.pending = pending;
        result
    }

    fn emit<E>(
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

/// Splits off the bytes up to and including the next line end, or all bytes if there is none.
fn take_line<'c>(chunk: &mut &'c [u8]) -> &'c [u8] {
    let before = *chunk;
    // Reading from memory cannot fail. `skip_until` is the standard library's access to its fast byte search.
    let length = chunk.skip_until(b'\n').unwrap_or(before.len());
    before.get(..length).unwrap_or(before)
}

/// An error in a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LineError {
    /// The line's number, from 1.
    pub line: i64,
    /// The column or member with the error, if the error concerns only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<Cow<'static, str>>,
    /// The problem, in words.
    pub message: String,
}

/// The errors in a body. All are counted; the first 20, in the order of their lines, are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineErrors {
    listed: Vec<LineError>,
    count: u64,
    stopped_early: bool,
}

impl LineErrors {
    /// Counts an error, and lists it if its line is among the first 20. `column` is as in [`LineError`].
    pub fn add(&mut self, line: i64, column: Option<Cow<'static, str>>, message: impl Into<String>) {
        self.count += 1;
        // Errors may arrive out of order: an import applies one kind of resource after the other.
        let index = self.listed.partition_point(|error| error.line <= line);
        if index < MAX_LISTED {
            self.listed.truncate(MAX_LISTED - 1);
            let error = LineError { line, column, message: message.into() };
            self.listed.insert(index, error);
        }
    }

    /// Records that reading stopped before the end of the body, so that the answer says so.
    pub fn stop_early(&mut self) {
        self.stopped_early = true;
    }

    /// True if no error was added.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// True if the list is full: an error in a later line would not be listed.
    pub fn is_full(&self) -> bool {
        self.listed.len() == MAX_LISTED
    }

    /// The listed errors, by line.
    pub fn listed(&self) -> &[LineError] {
        &self.listed
    }

    /// The JSON body of the error answer, `{"error": …, "code": …, "lines": [{line, column?, message}, …]}`.
    pub fn body(&self, refusal: &ApiError) -> String {
        let errors = if self.count == 1 { "error" } else { "errors" };
        let rest = if self.stopped_early { ", the rest was not read" } else { "" };
        json!({
            "error": format!("{} ({} {errors}{rest})", refusal.message, self.count),
            "code": refusal.code,
            "lines": self.listed,
        })
        .to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MAX: usize = 5;
    const REFUSAL: ApiError = ApiError::new(400, "invalid_lines", "nothing was kept");

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

    /// The reference: splits the whole body at once.
    fn model(body: &[u8]) -> Read {
        let body = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
        let mut lines: Vec<_> = body.split(|byte| *byte == b'\n').collect();
        let last = lines.pop().filter(|last| !last.is_empty());
        let ended = lines.into_iter().map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        (1..)
            .zip(ended.chain(last))
            .map(|(number, line)| {
                let kept = (line.len() <= MAX).then(|| line.to_vec());
                (number, kept.ok_or(TooLong { max: MAX }))
            })
            .collect()
    }

    #[test]
    fn a_byte_order_mark_is_removed_only_at_the_start() {
        assert_eq!(
            read([b"\xEF\xBB".as_slice(), b"\xBFa\r", b"\n\xEF\xBB\xBFb"]),
            [(1, Ok(b"a".to_vec())), (2, Ok(b"\xEF\xBB\xBFb".to_vec()))]
        );
    }

    #[test]
    fn a_line_that_is_too_long_is_not_buffered() {
        let mut lines = Lines::new(MAX);
        let mut errors = 0;
        for _ in 0..1_000 {
            lines.push(b"xxxx", |_, _| Err(())).unwrap();
            assert!(lines.pending.len() <= MAX + UNCOUNTED);
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
    fn the_first_twenty_errors_are_listed_by_line_and_all_are_counted() {
        let mut errors = LineErrors::default();
        for line in (1..=30).rev() {
            errors.add(line, (line == 2).then_some(Cow::Borrowed("clicks")), "is wrong");
        }
        let body: serde_json::Value = serde_json::from_str(&errors.body(&REFUSAL)).unwrap();
        assert_eq!(body["error"], "nothing was kept (30 errors)");
        assert_eq!(body["code"], "invalid_lines");
        assert_eq!(body["lines"].as_array().unwrap().len(), MAX_LISTED);
        let first = json!({ "line": 1, "message": "is wrong" });
        let second = json!({ "line": 2, "column": "clicks", "message": "is wrong" });
        assert_eq!((&body["lines"][0], &body["lines"][1]), (&first, &second));
        assert_eq!(body["lines"][19]["line"], 20);
    }

    #[test]
    fn an_answer_says_if_the_rest_was_not_read() {
        let mut errors = LineErrors::default();
        assert!(errors.is_empty());
        errors.add(1, None, "is wrong");
        errors.stop_early();
        let body = errors.body(&REFUSAL);
        assert!(body.contains("nothing was kept (1 error, the rest was not read)"), "{body}");
    }

    proptest! {
        #[test]
        fn chunks_of_any_size_give_the_same_lines(
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
