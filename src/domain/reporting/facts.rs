//! Facts as they are uploaded: CSV or NDJSON that arrives in chunks of any size, read a line at a time and checked whole.
//! `column` is what both formats have in common, `csv` and `ndjson` take a line apart, `row` checks its values.

mod column;
mod csv;
mod ndjson;
mod number;
mod problem;
mod row;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use self::row::day;
use self::{column::Texts, csv::Header, problem::Problem, row::Days};
use super::{Sums, dimension::Key};
use crate::model::{
    api_error::ApiError,
    lines::{LineErrors, Lines, TooLong},
    time::UtcDay,
};

pub const INVALID_FACTS: ApiError =
    ApiError::new(400, "invalid_facts", "nothing was kept: some lines are wrong");

/// The longest line, in bytes. A row whose texts are all of 128 bytes, each of them escaped, has a third of it.
pub const MAX_LINE: usize = 16 << 10;

/// How an upload is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    Csv,
    Ndjson,
}

/// A row of an upload, checked. Rows with the same key are separate facts here, and add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact<'v> {
    pub day: UtcDay,
    /// Unknown values are as [`super::Dimension::unknown`] says, the country is upper case.
    pub key: Key<'v>,
    pub sums: Sums,
    pub app_name: Option<&'v str>,
}

/// What an upload came to. It may be kept only if `errors` is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Rows received.
    pub rows: u64,
    pub errors: LineErrors,
}

/// Reads one upload. What it keeps does not grow with the upload, but for the totals of its days.
#[derive(Debug)]
pub struct Reader {
    lines: Lines,
    rows: Rows,
}

impl Reader {
    /// `day` is the one that the whole upload is for; without it, each row has a date.
    pub fn new(format: Format, day: Option<UtcDay>) -> Self {
        Self {
            lines: Lines::new(MAX_LINE),
            rows: Rows {
                layout: match format {
                    Format::Csv => Layout::Csv(None),
                    Format::Ndjson => Layout::Ndjson,
                },
                day,
                days: Days::default(),
                unescaped: String::new(),
                count: 0,
                errors: LineErrors::default(),
                stopped: false,
            },
        }
    }

    /// Hands the rows that end in a chunk to `sink`, until the first wrong line. An error that `sink` gives ends it:
    /// nothing is to be pushed after one.
    pub fn push<E>(
        &mut self,
        chunk: &[u8],
        sink: &mut impl FnMut(Fact<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.rows.is_stopped() && !chunk.is_empty() {
            self.rows.errors.leave_the_rest();
            return Ok(());
        }
        self.lines
            .push(chunk, |number, line| self.rows.line(number, line, sink))
    }

    /// The body has ended: hands on its last row, if no line end followed it.
    pub fn finish<E>(mut self, sink: &mut impl FnMut(Fact<'_>) -> Result<(), E>) -> Result<Outcome, E> {
        self.lines
            .finish(|number, line| self.rows.line(number, line, sink))?;
        let mut errors = self.rows.errors;
        if matches!(self.rows.layout, Layout::Csv(None)) && errors.is_empty() {
            errors.add(1, None, "the header is missing: the first line names the columns");
        }
        Ok(Outcome {
            rows: self.rows.count,
            errors,
        })
    }
}

#[derive(Debug)]
enum Layout {
    /// With the header, once it was read.
    Csv(Option<Header>),
    Ndjson,
}

impl Layout {
    fn format(&self) -> Format {
        match self {
            Self::Csv(_) => Format::Csv,
            Self::Ndjson => Format::Ndjson,
        }
    }

    /// Takes a row apart.
    fn texts<'v>(&self, line: &'v str, buffer: &'v mut String) -> Result<Texts<'v>, Problem> {
        match self {
            Self::Csv(Some(header)) => header.cells(line)?.texts(buffer, csv::unescape),
            Self::Csv(None) => Err(Problem::of_line("has no header before it")),
            Self::Ndjson => ndjson::cells(line)?.texts(buffer, ndjson::unescape),
        }
    }
}

/// What is known between two lines.
#[derive(Debug)]
struct Rows {
    layout: Layout,
    day: Option<UtcDay>,
    days: Days,
    /// The unescaped texts of a row, in one buffer for all rows.
    unescaped: String,
    count: u64,
    errors: LineErrors,
    /// Without a header no row can be read.
    stopped: bool,
}

impl Rows {
    /// Whether nothing that follows could change the answer.
    fn is_stopped(&self) -> bool {
        self.stopped || self.errors.is_full()
    }

    fn line<E>(
        &mut self,
        number: i64,
        line: Result<&[u8], TooLong>,
        sink: &mut impl FnMut(Fact<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.is_stopped() {
            self.errors.leave_the_rest();
            return Ok(());
        }
        let line = match line.map(str::from_utf8) {
            Ok(Ok(text)) if text.bytes().all(|byte| matches!(byte, b' ' | b'\t')) => return Ok(()),
            Ok(Ok(text)) => Ok(text),
            Ok(Err(error)) => Err(Problem::of_line(format!(
                "is not UTF-8, from byte {}",
                error.valid_up_to() + 1
            ))),
            Err(too_long) => Err(Problem::of_line(too_long.to_string())),
        };
        if matches!(self.layout, Layout::Csv(None)) {
            self.header(number, line);
            return Ok(());
        }
        self.count += 1;
        let read = line.and_then(|line| {
            let texts = self.layout.texts(line, &mut self.unescaped)?;
            row::fact(&texts, self.layout.format(), self.day)
        });
        match read.and_then(|fact| self.days.add(&fact).map(|()| fact)) {
            Ok(fact) if self.errors.is_empty() => sink(fact),
            Ok(_) => Ok(()),
            Err(problem) => {
                self.errors.add(number, problem.column, problem.message);
                Ok(())
            }
        }
    }

    fn header(&mut self, number: i64, line: Result<&str, Problem>) {
        let read = line
            .map_err(|problem| vec![problem])
            .and_then(|line| Header::read(line, self.day.is_some()));
        match read {
            Ok(header) => self.layout = Layout::Csv(Some(header)),
            Err(problems) => {
                self.stopped = true;
                for problem in problems {
                    self.errors.add(number, problem.column, problem.message);
                }
            }
        }
    }
}
