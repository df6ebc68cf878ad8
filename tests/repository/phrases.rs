//! Phrases that make a reader stop, which are never right in this repository. A line that needs one is listed as an
//! exception, with its reason.

use crate::{files, read, root};

/// Each phrase, and what to write instead.
const PHRASES: [(&str, &str); 8] = [
    ("for want of", "because it lacks"),
    ("anew", "again"),
    ("that there is not", "unknown"),
    ("than it", "repeat the noun"),
    ("is of", "belongs to, has"),
    ("by what", "name it"),
    ("one that there is", "a known one"),
    ("some #", "about #"),
];

/// Lines that keep a phrase, by a part of the line, with the reason.
const EXCEPTIONS: [(&str, &str); 1] = [("says that there is nothing", "the phrase is cut: it goes on with nothing")];

/// The text of a line that people read: a comment of code, and the whole line of a document or of a page's messages.
fn text<'l>(path: &str, line: &'l str) -> &'l str {
    let is_code = ["rs", "ts", "tsx", "js", "mjs"].iter().any(|ending| path.ends_with(&format!(".{ending}")));
    if !is_code || path.contains("/messages") {
        return line;
    }
    line.find("//").map_or("", |start| &line[start..])
}

/// A text in lower case, with each number as `#`, and blanks for what is not a letter.
fn words(line: &str) -> String {
    let mut words = String::from(" ");
    for word in line.to_lowercase().split(|c: char| !c.is_alphanumeric()) {
        let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        words.push_str(if is_number { "#" } else { word });
        words.push(' ');
    }
    words
}

#[test]
fn no_text_has_a_phrase_that_makes_a_reader_stop() {
    let folders = ["src", "tests", "benches", "docs", "clients", "fixtures"];
    let alone =
        ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "openapi.yaml", "openapi-dashboard.yaml"];
    let texts = ["rs", "ts", "tsx", "js", "mjs", "md", "yaml", "py", "capnp"];
    let is_text = |path: &std::path::PathBuf| {
        let name = path.to_string_lossy();
        texts.iter().any(|ending| name.ends_with(&format!(".{ending}"))) && !name.ends_with("/phrases.rs")
    };
    let paths = folders.iter().flat_map(|folder| files(folder)).filter(is_text);
    let mut found = vec![];
    for path in paths.chain(alone.iter().map(|name| root().join(name))) {
        for (number, line) in (1..).zip(read(path.to_str().unwrap()).lines()) {
            let words = words(text(&path.to_string_lossy(), line));
            for (phrase, instead) in PHRASES {
                let is_exception = EXCEPTIONS.iter().any(|(part, _)| line.contains(part));
                if words.contains(&format!(" {phrase} ")) && !is_exception {
                    let name = path.strip_prefix(root()).unwrap().display().to_string();
                    found.push(format!("{name}:{number}: {phrase:?}, instead: {instead}"));
                }
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
