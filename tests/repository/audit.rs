//! The console's audit has words for each change that the operator's members can make.

use std::collections::BTreeSet;

use crate::read;
use origin::http::routes::{Handler, routes};

/// The names of a table of texts in a page's source.
fn names(path: &str, table: &str) -> BTreeSet<String> {
    let source = read(path);
    let start = format!("const {table}: Record<string, string> = {{");
    let (_, after) = source.split_once(&start).unwrap_or_else(|| panic!("{path} has no {table}"));
    let (rows, _) = after.split_once("\n};").unwrap();
    let rows = rows.lines().filter_map(|row| row.trim().split_once(": "));
    rows.map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn each_change_of_the_operator_has_words_in_the_consoles_audit() {
    let shared = names("src/web/shared/messages/audit.ts", "AUDIT_ACTIONS");
    let own = names("src/web/console/messages/audit.ts", "OPERATOR_ACTIONS");
    let methods = routes().flat_map(|route| route.methods);
    let actions: BTreeSet<_> = methods
        .filter_map(|method| match method.handler {
            Handler::Operator(_, access) => access?.action,
            _ => None,
        })
        .collect();
    assert!(actions.len() > 20, "the changes of the operator: {actions:?}");
    for action in &actions {
        assert!(own.contains(*action) || shared.contains(*action), "{action} has no words");
    }
    for action in &own {
        assert!(actions.contains(action.as_str()), "nobody does {action}");
        assert!(!shared.contains(action), "{action} has words twice");
    }
}

/// The names stand as texts in the sources of the account.
#[test]
fn each_change_that_an_account_announces_has_words() {
    let shared = names("src/web/shared/messages/audit.ts", "AUDIT_ACTIONS");
    let source = read("src/origin/objects/accounts/announced.rs");
    let is_name = |text: &&str| text.contains('_') && text.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let actions: BTreeSet<_> = source.split('"').skip(1).step_by(2).filter(is_name).collect();
    assert!(actions.len() > 10, "the changes of an account: {actions:?}");
    for action in actions {
        assert!(shared.contains(action), "{action} has no words");
    }
}
