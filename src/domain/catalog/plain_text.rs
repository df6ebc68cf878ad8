//! Converts offer texts from HTML to plain text (docs/DECISIONS.md, "Offers"). Tags are removed, entities are decoded,
//! and line breaks stay. In a text that is not HTML, only line ends, trailing spaces and blank lines are tidied.
//!
//! Signpost has its own converter because the small crates are made for whole pages: they join the lines of numbered
//! steps, reduce `<br><br>` to one break, print the URLs of links, and read `x < y`, `<name>` and a URL's `&lang=` as
//! markup. The table of entities is `html-escape`'s.

use std::borrow::Cow;

use crate::model::{FieldError, document::check_text, placeholders::is_invisible};

/// The effect of an element on the text around it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// None: only its tags are removed.
    Inline,
    /// A space, for the cells of a table.
    Space,
    /// One line break, for `<br>`.
    Break,
    /// A line of its own.
    Line,
    /// A blank line before and after.
    Paragraph,
    List {
        numbered: bool,
    },
    Item,
    /// Removed together with its content.
    Hidden,
}

/// The known elements by their effect, with spaces between the names. Any other `<name>` is text, such as a placeholder
/// or a comparison.
const ELEMENTS: [(Effect, &str); 9] = [
    (
        Effect::Inline,
        "a abbr b big cite code del em font i img ins kbd label mark q s small span strike strong sub sup \
        u wbr",
    ),
    (Effect::Space, "td th"),
    (Effect::Break, "br"),
    (
        Effect::Line,
        "address article aside body caption center dd div dl dt figcaption figure footer header html main \
        nav section table tbody tfoot thead tr",
    ),
    (Effect::Paragraph, "blockquote h1 h2 h3 h4 h5 h6 hr p pre"),
    (Effect::List { numbered: true }, "ol"),
    (Effect::List { numbered: false }, "ul"),
    (Effect::Item, "li"),
    (Effect::Hidden, "head iframe script style svg template title"),
];

/// The characters that numeric entities from 128 to 159 stand for. HTML reads these numbers as windows-1252, in which
/// many feeds still write dashes and apostrophes.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// A text as an offer shows it: lines separated by `\n`, without trailing spaces, and at most one blank line in a row.
pub fn plain_text(input: &str) -> String {
    let text = input.replace("\r\n", "\n").replace('\r', "\n");
    tidy(&if is_html(&text) { convert(&text) } else { text })
}

/// Checks that a text is one line of 1 to `max` characters, none of them invisible or able to reverse text direction.
pub fn check_line(path: &str, text: &str, max: usize) -> Result<(), FieldError> {
    check_text(path, text, max)?;
    let shown = plain_text(text);
    let shown = shown.trim();
    if shown.chars().all(is_joiner) {
        return Err(FieldError::new(path, "must not be empty"));
    }
    let unfit = text.chars().chain(shown.chars()).find(|char| is_invisible(*char));
    match unfit.or_else(|| shown.chars().find(|char| char.is_control())) {
        Some(unfit) => Err(FieldError::new(path, format!("must not contain the character {}", unfit.escape_unicode()))),
        None => Ok(()),
    }
}

/// True for a character that only shapes its neighbours. Names in several scripts, and emoji, need joiners and
/// variation selectors.
fn is_joiner(char: char) -> bool {
    matches!(char, '\u{200c}'..='\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

/// True if a text has markup. A text without markup is not converted, since its spaces may be intended.
fn is_html(text: &str) -> bool {
    let has_tag = || text.match_indices('<').any(|(at, _)| text.get(at..).and_then(Markup::at_start).is_some());
    has_tag() || matches!(html_escape::decode_html_entities(text), Cow::Owned(_))
}

fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut blank = false;
    for line in text.lines().map(str::trim_end) {
        if line.is_empty() {
            blank = true;
            continue;
        }
        if !out.is_empty() {
            out.push_str(if blank { "\n\n" } else { "\n" });
        }
        blank = false;
        out.push_str(line);
    }
    out
}

fn convert(html: &str) -> String {
    let mut text = Converter::default();
    let mut rest = html;
    loop {
        let (before, from_tag) = rest.split_at_checked(next_markup(rest)).unwrap_or((rest, ""));
        text.push_text(before);
        let Some((markup, after)) = Markup::at_start(from_tag) else {
            break;
        };
        rest = after;
        match markup {
            Markup::Comment => {}
            Markup::Open(name, Effect::Hidden) => rest = after_hidden(name, after),
            Markup::Open(_, effect) => text.open(effect),
            Markup::Close(effect) => text.close(effect),
        }
    }
    text.out
}

/// The position of the next tag or comment, or the text's length.
fn next_markup(text: &str) -> usize {
    let is_markup = |at: &usize| text.get(*at..).and_then(Markup::at_start).is_some();
    text.match_indices('<').map(|(at, _)| at).find(is_markup).unwrap_or(text.len())
}

/// The text after the closing tag of a hidden element; empty if it is never closed.
fn after_hidden<'a>(name: &str, text: &'a str) -> &'a str {
    let closing = format!("</{name}");
    let lower = text.to_ascii_lowercase();
    lower
        .find(&closing)
        .and_then(|at| text.get(at..))
        .and_then(|tag| tag.split_once('>'))
        .map_or("", |(_, after)| after)
}

enum Markup {
    Open(&'static str, Effect),
    Close(Effect),
    Comment,
}

impl Markup {
    /// Parses the tag or comment at the start of a text, and returns it with the text after it.
    fn at_start(text: &str) -> Option<(Self, &str)> {
        if let Some(comment) = text.strip_prefix("<!--") {
            return comment.split_once("-->").map(|(_, after)| (Self::Comment, after));
        }
        let (inside, after) = split_tag(text.strip_prefix('<')?)?;
        let (closing, inside) = match inside.strip_prefix('/') {
            Some(name) => (true, name),
            None => (false, inside),
        };
        let (name, attributes) = match inside.find(|c: char| !c.is_ascii_alphanumeric()) {
            Some(end) => inside.split_at_checked(end)?,
            None => (inside, ""),
        };
        let (name, effect) = ELEMENTS.into_iter().find_map(|(effect, names)| {
            let mut names = names.split(' ');
            Some((names.find(|known| known.eq_ignore_ascii_case(name))?, effect))
        })?;
        // `a <b and c> d` is a comparison: attributes must have a value. The slash of `<br/>` is ignored.
        let well_formed = match attributes.trim_matches([' ', '\t', '\n', '/']) {
            "" => true,
            trimmed => !closing && trimmed.contains('=') && attributes.starts_with([' ', '\t', '\n', '/']),
        };
        let markup = if closing { Self::Close(effect) } else { Self::Open(name, effect) };
        well_formed.then_some((markup, after))
    }
}

/// Splits a text at the `>` that ends a tag. Ignores any `>` in a quoted value. Returns `None` if a `<` comes first,
/// because then the text is not a tag.
fn split_tag(text: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    let mut after_equals = false;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) => {
                if c == open {
                    quote = None;
                }
            }
            (None, '>') => return Some((text.get(..at)?, text.get(at + 1..)?)),
            (None, '<') => return None,
            (None, '"' | '\'') if after_equals => quote = Some(c),
            (None, _) => {}
        }
        after_equals = c == '=' || (after_equals && c.is_ascii_whitespace());
    }
    None
}

/// The output so far, and the separator due before the next character.
#[derive(Default)]
struct Converter {
    out: String,
    space: bool,
    /// Line breaks that are due: from `<br>`, from the source's line ends, and from elements that need a line of their
    /// own.
    breaks: usize,
    line_ends: usize,
    lines: usize,
    /// The open lists, each with the number of its last item if it is numbered.
    lists: Vec<Option<u32>>,
    /// The marker of the item that begins with the next text: `1. ` or `- `.
    marker: Option<String>,
}

impl Converter {
    fn open(&mut self, effect: Effect) {
        match effect {
            Effect::List { numbered } => self.lists.push(numbered.then_some(0)),
            Effect::Item => {
                self.marker = Some(match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{number}. ")
                    }
                    _ => "- ".to_owned(),
                });
            }
            _ => {}
        }
        self.separate(effect);
    }

    fn close(&mut self, effect: Effect) {
        match effect {
            Effect::List { .. } => drop(self.lists.pop()),
            Effect::Item => self.marker = None,
            _ => {}
        }
        self.separate(effect);
    }

    fn separate(&mut self, effect: Effect) {
        match effect {
            Effect::Inline | Effect::Hidden => {}
            Effect::Space => self.space = true,
            Effect::Break => self.breaks += 1,
            Effect::Line | Effect::List { .. } | Effect::Item => self.lines = self.lines.max(1),
            Effect::Paragraph => self.lines = 2,
        }
    }

    fn push_text(&mut self, html: &str) {
        let text = html_escape::decode_html_entities(html);
        for (at, c) in text.char_indices() {
            match c {
                '\n' => self.line_ends += 1,
                // Non-breaking spaces in feeds are nearly always padding.
                ' ' | '\t' | '\r' | '\u{c}' | '\u{a0}' => self.space = true,
                c => {
                    self.push_separator(text.get(at..).unwrap_or_default());
                    self.out.push(as_windows_1252(c));
                }
            }
        }
    }

    /// Writes the separator between the output so far and `next`.
    fn push_separator(&mut self, next: &str) {
        // In HTML the source's line ends are spaces. Here they are line breaks wherever no tag makes one: many feeds
        // use line ends together with tags, and steps without line breaks are unreadable.
        let breaks = match self.breaks.max(self.lines) {
            0 => self.line_ends,
            from_tags => from_tags,
        };
        if !self.out.is_empty() {
            if breaks > 0 {
                self.out.push_str(if breaks > 1 { "\n\n" } else { "\n" });
            } else if self.space {
                self.out.push(' ');
            }
        }
        (self.space, self.breaks, self.line_ends, self.lines) = (false, 0, 0, 0);
        if let Some(marker) = self.marker.take()
            && !has_marker(next)
        {
            self.out.push_str(&marker);
        }
    }
}

/// True if an item begins with a bullet or number of its own.
fn has_marker(item: &str) -> bool {
    let after_digits = item.trim_start_matches(|c: char| c.is_ascii_digit());
    item.starts_with(['-', '–', '•', '·', '*'])
        || (after_digits.len() < item.len() && after_digits.starts_with(['.', ')']))
}

fn as_windows_1252(c: char) -> char {
    let index = u32::from(c).checked_sub(0x80).and_then(|index| usize::try_from(index).ok());
    index.and_then(|index| WINDOWS_1252.get(index)).copied().unwrap_or(c)
}

#[cfg(test)]
mod tests;
