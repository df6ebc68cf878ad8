//! An object's copy is exact only if its triggers see each removed row (`src/origin/copy.js`).

use std::fs;

use crate::sources;

#[test]
fn no_statement_replaces_a_row_that_has_another_key() {
    let mut replacing = vec![];
    for path in sources("src") {
        let text = fs::read_to_string(path).unwrap();
        let lines = text
            .lines()
            .filter(|line| line.contains("OR REPLACE") || line.contains("REPLACE INTO"));
        replacing.extend(lines.map(str::to_owned));
    }
    // This table has only one key, its INTEGER PRIMARY KEY.
    assert_eq!(replacing.len(), 1, "{replacing:?}");
    assert!(replacing[0].contains("INTO alarm_address "), "{replacing:?}");
}
