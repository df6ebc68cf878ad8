//! Two spreadsheets open an export for spreadsheets: each text is text, each number a number, each date a date.

use std::{collections::HashMap, fs, path::Path, process::Command};

use domain::reporting::{Dimension, Measure, Metric, format::Format, page::Page, render::Renderer};
use serde_json::{Value, json};

use crate::random::Random;

/// Texts, most of which a spreadsheet reads as numbers, dates or formulas unless the file prevents it.
const TEXTS: [&str; 34] = [
    "00000042",
    "2-1",
    "1E5",
    "12e3",
    "123456789012345678901",
    "1.2",
    "1/2",
    "12:30",
    "50%",
    "(5)",
    "１２",
    "May 5",
    "March 2026",
    "5 Jan",
    "TRUE",
    "false",
    "#REF!",
    " 42",
    "\u{a0}42",
    "\t42",
    "=1+1",
    "'=1+1",
    " =1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "＝1",
    "＋1",
    "－1",
    "＠x",
    "Ångström Café",
    "a, b",
    "=HYPERLINK(A1,A2)",
    "DE",
];
/// The characters of random texts. A quote is left out: Gnumeric shows a constant that has one as it is written.
const CHARACTERS: [&str; 24] = [
    "0", "1", "5", "9", "e", "E", "x", "é", "=", "+", "-", "@", "'", " ", ",", ".", "/", ":", "%", "$", "(", ")", "#",
    "_",
];

fn texts() -> Vec<String> {
    let random = &mut Random(20_261_126);
    let random_text = |_| (0..=random.below(8)).map(|_| random.one(&CHARACTERS)).collect();
    let mut texts: Vec<String> = (0..2_000).map(random_text).collect();
    texts.extend(TEXTS.map(str::to_owned));
    texts
}

/// Opens a file, and returns the type and the value of each cell.
fn open(file: &Path) -> Vec<Vec<(String, Value)>> {
    let mut command = Command::new("node");
    let read = command.arg("tests/verifiers/spreadsheet.mjs").arg(file);
    let read = read.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).output();
    let read = read.expect("node");
    assert!(read.status.success(), "`make verify` installs xlsx: {read:?}");
    serde_json::from_slice(&read.stdout).expect("rows of cells")
}

#[test]
fn two_spreadsheets_read_an_export_as_it_is_meant() {
    let texts = texts();
    let mut page = Page::new(vec![Dimension::AdTag, Dimension::Date], vec![Metric::Sum(Measure::Revenue)]);
    for text in &texts {
        let row = [text.as_str(), "2026-11-02"];
        page.push(row.into_iter(), [0, 0, 0, 0, -1_250_000]).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let (csv, xlsx) = (folder.path().join("a.csv"), folder.path().join("a.xlsx"));
    let export = Renderer::new(page, Format::SpreadsheetCsv, HashMap::new()).whole();
    fs::write(&csv, export).unwrap();
    let mut convert = Command::new("ssconvert");
    let converted = convert.args([&csv, &xlsx]).env("LC_ALL", "C.UTF-8").output();
    let converted = converted.expect("`make verify` installs Gnumeric, which has ssconvert");
    assert!(converted.status.success(), "{converted:?}");
    for (reader, file) in [("SheetJS", &csv), ("Gnumeric", &xlsx)] {
        let mut rows = open(file).into_iter();
        let head = rows.next().unwrap().into_iter().map(|(_, name)| name);
        assert_eq!(head.collect::<Vec<_>>(), ["ad_tag", "date", "revenue"], "{reader}");
        assert_eq!(rows.len(), texts.len(), "{reader}");
        for (text, row) in texts.iter().zip(rows) {
            let is_marked = text.starts_with([' ', '\u{a0}', '\t', '\'', '=', '+', '-', '@', '＝', '＋', '－', '＠']);
            let shown = if is_marked { format!("'{text}") } else { text.clone() };
            let cells = [
                ("s".to_owned(), json!(shown)),
                // The days since 1899-12-30.
                ("n".to_owned(), json!(46_328)),
                ("n".to_owned(), json!(-1.25)),
            ];
            assert_eq!(row, cells, "{reader} of {text:?}");
        }
    }
}
