//! The times of docs/DECISIONS.md ("Times") are those of the code, and no other document repeats them.

use crate::read;

/// These compute with the times.
const MAY_REPEAT: [&str; 2] = ["PERFORMANCE.md", "SPEC.md"];
/// Phrases that only the table may have.
const PHRASES: [&str; 5] = ["two minutes", "97 days", "400 days", "401 days", "431 days"];

/// The value of a constant in days, from its source: a product of numbers, sums in parentheses and names.
fn days(file: &str, name: &str) -> i64 {
    let source = read(file);
    let start = format!("const {name}: i64 = ");
    let (_, rest) = source.split_once(&start).unwrap_or_else(|| panic!("{file} has no {name}"));
    let (expression, _) = rest.split_once(';').unwrap();
    let value = |term: &str| match term.trim() {
        "DAY_MS" => 1,
        "CLICK_LIFE_DAYS" => domain::conversions::reward::CLICK_LIFE_DAYS,
        "REVERSAL_DAYS" => domain::conversions::reward::REVERSAL_DAYS,
        number => number.parse().unwrap_or_else(|_| panic!("{name}: {expression}")),
    };
    let sum = |factor: &str| factor.trim_matches(['(', ')', ' ']).split('+').map(value).sum::<i64>();
    expression.split('*').map(sum).product()
}

#[test]
fn the_table_of_times_has_the_values_of_the_code() {
    let decisions = read("docs/DECISIONS.md");
    let (_, section) = decisions.split_once("\n## Times\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let mut compared = 0;
    for row in section.lines().filter_map(|line| line.strip_prefix("| ")) {
        let cells: Vec<_> = row.split(" | ").collect();
        let (stated, code) = (cells[0], cells.last().unwrap());
        let Some((name, file)) = code.split_once(" in ") else {
            continue;
        };
        let [name, file] = [name, file].map(|text| text.trim_matches(['`', ' ', '|']));
        let stated = match stated.split_once(' ').unwrap() {
            ("24", "hours") => 1,
            (number, "days") => number.parse().unwrap(),
            other => panic!("{other:?}"),
        };
        assert_eq!(days(file, name), stated, "{name}");
        compared += 1;
    }
    assert_eq!(compared, 7);
}

#[test]
fn only_the_table_states_these_times() {
    for path in crate::files("docs") {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let mut text = read(path.to_str().unwrap());
        if MAY_REPEAT.contains(&name.as_str()) {
            continue;
        }
        if name == "DECISIONS.md" {
            let (before, section) = text.split_once("\n## Times\n").unwrap();
            text = format!("{before}{}", section.split_once("\n## ").unwrap().1);
        }
        // A phrase may go on in the next line.
        let text = text.replace('\n', " ");
        for phrase in PHRASES {
            assert!(!text.contains(phrase), "{name} repeats {phrase:?}: link to DECISIONS.md#times");
        }
    }
}
