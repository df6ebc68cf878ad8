//! Each rule of `fixtures/prometheus` names an existing metric, section and page. `make verify` runs promtool on them.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::read;

const RULES: &str = "fixtures/prometheus/alerts.yaml";

/// The names of metrics in a text.
fn metrics(text: &str) -> BTreeSet<&str> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.filter(|word| word.starts_with("signpost_")).collect()
}

#[test]
fn each_alert_rule_names_a_metric_a_section_and_a_page() {
    let (rules, operating) = (read(RULES), read("docs/OPERATING.md"));
    let (_, listed) = operating.split_once("| metric | at | meaning |").expect("the table of metrics");
    let listed = metrics(listed.split("\n\n").next().expect("its rows"));
    let sections: BTreeSet<_> = operating
        .lines()
        .filter_map(|line| line.strip_prefix("### "))
        .map(|title| title.to_lowercase().replace(' ', "-").replace('\'', ""))
        .collect();
    let parsed: Value = yaml_serde::from_str(&rules).expect("YAML");
    let rules = parsed["groups"][0]["rules"].as_array().expect("rules");
    assert!(rules.len() >= 13, "{rules:?}");
    let tests = read("fixtures/prometheus/alerts.test.yaml");
    for rule in rules {
        let text = |member: &Value| member.as_str().expect("a text").to_owned();
        let (name, notes) = (text(&rule["alert"]), &rule["annotations"]);
        let expression = text(&rule["expr"]);
        let unknown: Vec<_> = metrics(&expression).difference(&listed).copied().collect();
        assert!(unknown.is_empty(), "{name}: {unknown:?}");
        let runbook = text(&notes["runbook"]);
        let section = runbook.strip_prefix("docs/OPERATING.md#").expect("a section");
        assert!(sections.contains(section), "{name}: {section}");
        assert!(text(&notes["page"]).starts_with("/console"), "{name}");
        assert!(text(&notes["summary"]).ends_with('.'), "{name}");
        assert!(tests.contains(&format!("alertname=\"{name}\"")), "{name} is not tried");
    }
}
