//! An object's copy is exact only if its triggers see each removed row and the object has no table with a name of the
//! copy's own (`src/origin/copy.js`).

use std::fs;

use crate::sources;

/// The texts of the sources that have SQL, each as one line.
fn texts() -> impl Iterator<Item = String> {
    let paths = sources("src").into_iter();
    let texts = paths.map(|path| fs::read_to_string(path).unwrap());
    texts.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn no_statement_replaces_a_row_that_has_another_key() {
    let forms = ["OR REPLACE", "CONFLICT REPLACE", "\"REPLACE INTO", "; REPLACE INTO"];
    let replacing = texts().flat_map(|text| {
        let found = forms.iter().flat_map(|form| text.match_indices(form).map(|(at, _)| at));
        found.map(|at| text[at..].chars().take(60).collect::<String>()).collect::<Vec<_>>()
    });
    let replacing: Vec<_> = replacing.collect();
    // This table has only one key, its INTEGER PRIMARY KEY.
    assert_eq!(replacing.len(), 1, "{replacing:?}");
    assert!(replacing[0].contains("INTO alarm_address "), "{replacing:?}");
}

#[test]
fn no_table_index_or_trigger_of_an_object_has_a_name_of_the_copys_own() {
    for text in texts() {
        let names = ["TABLE", "INDEX", "TRIGGER", "EXISTS"].map(|word| format!("{word} copy_"));
        let found: Vec<_> = names.iter().filter(|name| text.contains(name.as_str())).collect();
        assert!(found.is_empty(), "{found:?}");
    }
}
