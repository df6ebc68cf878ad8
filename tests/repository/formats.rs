//! docs/OPERATING.md lists every format as the code does.

use crate::read;
use origin::http::formats::{Format, formats};

#[test]
fn operating_lists_every_format() {
    let head = "| format | version | writer | reader | an unknown version | remedy |\n|---|---|---|---|---|---|\n";
    let operating = read("docs/OPERATING.md");
    let (_, table) = operating.split_once(head).expect("the table of formats");
    let listed = table.split("\n\n").next().expect("its rows");
    let cells = |format: Format| {
        let version = if format.version.is_empty() { "–" } else { &format.version };
        [format.name, version, format.writer, format.reader, format.unknown, format.remedy].join(" | ")
    };
    let rows: Vec<_> = formats().into_iter().map(|format| format!("| {} |", cells(format))).collect();
    assert_eq!(listed.trim_end(), rows.join("\n"));
}
