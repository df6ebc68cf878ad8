//! Reads uploads of facts: CSV or NDJSON that arrives in chunks of any size, parsed line by line. `column` has the
//! columns of both formats, `csv` and `ndjson` split a line into texts, and `row` checks the texts.

mod column;
mod csv;
mod fact;
mod ndjson;
mod number;
mod problem;
mod row;
#[cfg(test)]
mod tests;

use self::{column::Texts, csv::Header, problem::Problem, row::DayTotals};
pub use self::{
    fact::{Fact, Format},
    row::day,
};
use crate::model::{
    ApiError, UtcDay,
    lines::{LineErrors, Lines, TooLong},
};

/// The answer to an upload that has a wrong line or exceeds the limits of a day.
pub const INVALID_FACTS: ApiError = ApiError::new(400, "invalid_facts", "nothing was kept: some lines are wrong");

/// The longest line, in bytes. A row takes less than a third of this even if all its texts have 128 bytes and every
/// byte is escaped.
pub const MAX_LINE: usize = 16 << 10;

/// The result of reading an upload. The upload may be stored only if `errors` is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Rows received.
    pub rows: u64,
    /// The invalid lines.
    pub errors: LineErrors,
}

/// Reads one upload. The reader's memory does not grow with the upload, except for the totals of each day.
#[derive(Debug)]
pub struct Reader {
    lines: Lines,
    rows: Rows,
}

impl Reader {
    /// `day` is the day of the whole upload. Without it, each row has a date.
    pub fn new(format: Format, day: Option<UtcDay>) -> Self {
        Self {
            lines: Lines::new(MAX_LINE),
            rows: Rows {
                layout: match format {
                    Format::Csv => Layout::Csv(None),
                    Format::Ndjson => Layout::Ndjson,
                },
                day,
                day_totals: DayTotals::default(),
                unescaped: String::new(),
                count: 0,
                errors: LineErrors::default(),
                stopped: false,
            },
        }
    }

    /// Passes the rows that end in this chunk to `sink`, until the first wrong line. After an error from `sink`, the
    /// caller must push nothing more.
    pub fn push<E>(&mut self, chunk: &[u8], sink: &mut impl FnMut(Fact<'_>) -> Result<(), E>) -> Result<(), E> {
        if self.rows.is_stopped() && !chunk.is_empty() {
            self.rows.errors.stop_early();
            return Ok(());
        }
        self.lines.push(chunk, |number, line| self.rows.read_line(number, line, sink))
    }

    /// Ends the body: passes on the last row if it has no line end.
    pub fn finish<E>(mut self, sink: &mut impl FnMut(Fact<'_>) -> Result<(), E>) -> Result<Outcome, E> {
        self.lines.finish(|number, line| self.rows.read_line(number, line, sink))?;
        let mut errors = self.rows.errors;
        if matches!(self.rows.layout, Layout::Csv(None)) && errors.is_empty() {
            errors.add(1, None, "the header is missing: the first line names the columns");
        }
        Ok(Outcome { rows: self.rows.count, errors })
    }
}

#[derive(Debug)]
enum Layout {
    /// The columns of the header; `None` until it is read.
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

    /// Splits a row into its texts.
    fn texts<'v>(&self, line: &'v str, buffer: &'v mut String) -> Result<Texts<'v>, Problem> {
        match self {
            Self::Csv(Some(header)) => header.cells(line)?.texts(buffer, csv::unescape),
            Self::Csv(None) => Err(Problem::of_line("has no header before it")),
            Self::Ndjson => ndjson::cells(line)?.texts(buffer, ndjson::unescape),
        }
    }
}

/// The state between two lines.
#[derive(Debug)]
struct Rows {
    layout: Layout,
    day: Option<UtcDay>,
    day_totals: DayTotals,
    /// The unescaped texts of a row. All rows share the buffer.
    unescaped: String,
    count: u64,
    errors: LineErrors,
    /// True if the header is wrong, so that no row can be read.
    stopped: bool,
}

impl Rows {
    /// True if the lines that follow cannot change the answer.
    fn is_stopped(&self) -> bool {
        self.stopped || self.errors.is_full()
    }

    fn read_line<E>(
        &mut self,
        number: i64,
        line: Result<&[u8], TooLong>,
        sink: &mut impl FnMut(Fact<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.is_stopped() {
            self.errors.stop_early();
            return Ok(());
        }
        let line = match line.map(str::from_utf8) {
            Ok(Ok(text)) if text.bytes().all(|byte| matches!(byte, b' ' | b'\t')) => return Ok(()),
            Ok(Ok(text)) => Ok(text),
            Ok(Err(error)) => Err(Problem::of_line(format!("is not UTF-8, from byte {}", error.valid_up_to() + 1))),
            Err(too_long) => Err(Problem::of_line(too_long.to_string())),
        };
        if matches!(self.layout, Layout::Csv(None)) {
            self.read_header(number, line);
            return Ok(());
        }
        self.count += 1;
        let read = line.and_then(|line| {
            let texts = self.layout.texts(line, &mut self.unescaped)?;
            row::fact(&texts, self.layout.format(), self.day)
        });
        match read.and_then(|fact| self.day_totals.add(&fact).map(|()| fact)) {
            Ok(fact) if self.errors.is_empty() => sink(fact),
            Ok(_) => Ok(()),
            Err(problem) => {
                self.errors.add(number, problem.column, problem.message);
                Ok(())
            }
        }
    }

    fn read_header(&mut self, number: i64, line: Result<&str, Problem>) {
        let read = line.map_err(|problem| vec![problem]).and_then(|line| Header::read(line, self.day.is_some()));
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
