//! The members of a document that a PUT changed, with their old and new values, for the audit.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// Members that Signpost adds.
const ADDED: [&str; 2] = ["terms_revision", "updated_at"];
/// Members that contain secrets. Their values are not recorded in the audit.
const SECRET: [&str; 3] = ["callback", "click_secret", "previous_click_secret"];
/// Maximum characters of a value's JSON. For a longer value, only the path is listed.
const MAX_VALUE: usize = 80;

/// Returns a JSON list of changes: `[path, before, after]`, or only `[path]` if a value is secret, long or has members.
/// Paths follow the document; a goal appears with its id: `goals.410271.payout_usd`. The list has at most `longest`
/// characters, and `["…"]` stands for the changes beyond that.
pub fn detail(before: &Map<String, Value>, after: &Map<String, Value>, longest: usize) -> String {
    let mut changes = Vec::new();
    compare_members(&mut changes, "", before, after);
    let mut list = String::from("[");
    for change in changes {
        let change = change.to_string();
        let separator = if list.len() > 1 { "," } else { "" };
        // Leaves room for the entry `["…"]` and the closing bracket.
        if list.chars().count() + change.chars().count() + 8 > longest {
            list.push_str(separator);
            list.push_str(r#"["…"]"#);
            break;
        }
        list.push_str(separator);
        list.push_str(&change);
    }
    list.push(']');
    list
}

fn compare_members(changes: &mut Vec<Value>, path: &str, before: &Map<String, Value>, after: &Map<String, Value>) {
    let names: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    for name in names {
        if path.is_empty() && ADDED.contains(&name.as_str()) {
            continue;
        }
        let value = |of: &Map<String, Value>| of.get(name).cloned().unwrap_or(Value::Null);
        compare(changes, &join(path, name), &value(before), &value(after));
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn compare(changes: &mut Vec<Value>, path: &str, before: &Value, after: &Value) {
    if before == after {
        return;
    }
    if SECRET.contains(&path) {
        changes.push(json!([path]));
        return;
    }
    if let (Some(before), Some(after)) = (by_id(before), by_id(after)) {
        return compare_members(changes, path, &before, &after);
    }
    let is_short = |value: &Value| !value.is_object() && value.to_string().chars().count() <= MAX_VALUE;
    changes.push(if is_short(before) && is_short(after) { json!([path, before, after]) } else { json!([path]) });
}

/// The members of an object, or the objects of a list by their ids. `None` for any other value.
fn by_id(value: &Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(members) => Some(members.clone()),
        Value::Array(items) if !items.is_empty() => {
            items.iter().map(|item| Some((item.get("id")?.as_str()?.to_owned(), item.clone()))).collect()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail_of(before: Value, after: Value) -> Value {
        let (Value::Object(before), Value::Object(after)) = (before, after) else {
            panic!("documents are objects");
        };
        serde_json::from_str(&detail(&before, &after, 300)).unwrap()
    }

    #[test]
    fn each_change_has_its_path_and_both_values() {
        let goal = |id: &str, payout: f64| json!({ "id": id, "ttl": "Install", "payout_usd": payout });
        let before = json!({
            "name": "Orchard", "active": true, "terms_revision": 3,
            "goals": [goal("1", 4.0), goal("2", 1.0)], "geo_tgt": { "include": [], "exclude": ["RU"] },
        });
        let after = json!({
            "name": "Orchard", "active": false, "terms_revision": 4, "conversion_cap": { "dur": "DAILY", "lim": 5 },
            "goals": [goal("1", 5.0), goal("3", 1.0)], "geo_tgt": { "include": ["US"], "exclude": ["RU"] },
        });
        assert_eq!(
            detail_of(before, after),
            json!([
                ["active", true, false],
                ["conversion_cap"],
                ["geo_tgt.include", [], ["US"]],
                ["goals.1.payout_usd", 4.0, 5.0],
                ["goals.2"],
                ["goals.3"],
            ])
        );
    }

    #[test]
    fn secrets_and_long_values_have_only_their_names() {
        let before = json!({ "callback": { "url": "https://a.example", "secret": "s" }, "desc": "short" });
        let after = json!({ "callback": { "url": "https://a.example", "secret": "t" }, "desc": "x".repeat(200) });
        assert_eq!(detail_of(before, after), json!([["callback"], ["desc"]]));
    }

    #[test]
    fn an_ellipsis_marks_a_list_that_was_cut() {
        let many = |value: i64| (0..100).map(|n| (format!("member-{n:02}"), value.into())).collect();
        let (before, after): (Map<_, _>, Map<_, _>) = (many(1), many(2));
        for longest in [20, 100, 300] {
            let text = detail(&before, &after, longest);
            assert!(text.chars().count() <= longest, "{text}");
            let list: Vec<Value> = serde_json::from_str(&text).unwrap();
            assert_eq!(list.last().unwrap(), &json!(["…"]));
        }
        assert_eq!(detail(&before, &before, 300), "[]");
    }
}
