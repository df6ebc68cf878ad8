//! The dashboard's page offers each role what the permission table grants to it.

use std::collections::BTreeSet;

use crate::read;
use domain::accounts::{account::AccountKind, permission::Permission, role::Role};

/// The rights of `src/dashboard/session.ts`, each with the permission that its view needs.
const RIGHTS: [(&str, Permission); 11] = [
    ("reports", Permission::ViewFigures),
    ("apps", Permission::ListApps),
    ("app_settings", Permission::ManageApps),
    ("rewards", Permission::ViewActivity),
    ("replay", Permission::ReplayRewards),
    ("keys", Permission::ViewReportKeys),
    ("pub_key", Permission::ViewPubKey),
    ("members", Permission::ViewMembers),
    ("passkeys", Permission::ViewOwnPasskeys),
    ("sessions", Permission::ViewOwnSessions),
    ("audit", Permission::ViewAudit),
];

/// The texts between quotation marks.
fn texts(line: &str) -> BTreeSet<&str> {
    line.split('"').skip(1).step_by(2).collect()
}

#[test]
fn the_page_offers_a_role_what_the_permission_table_grants() {
    let source = read("src/dashboard/session.ts");
    let (_, after) = source.split_once("export type Right =").unwrap();
    let (names, after) = after.split_once(';').unwrap();
    let known: BTreeSet<_> = RIGHTS.iter().map(|(right, _)| *right).collect();
    assert_eq!(texts(names), known);

    let (_, after) = after
        .split_once("const RIGHTS: Partial<Record<Role, Right[]>> = {")
        .unwrap();
    let (table, _) = after.split_once('}').unwrap();
    let rows = table.split("],").filter_map(|row| row.trim().split_once(": ["));
    let offered: BTreeSet<_> = rows.map(|(role, rights)| (role, texts(rights))).collect();
    let roles = Role::ALL
        .into_iter()
        .filter(|role| role.kind() == AccountKind::Publisher);
    let granted: BTreeSet<_> = roles
        .map(|role| {
            let rights = RIGHTS.iter().filter(|(_, needed)| needed.is_granted_to(role));
            (role.as_str(), rights.map(|(right, _)| *right).collect())
        })
        .collect();
    assert_eq!(offered, granted);
}
