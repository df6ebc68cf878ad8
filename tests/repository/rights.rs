//! The pages of the dashboard and the console offer each role what the permission table grants to it.

use std::collections::BTreeSet;

use crate::read;
use domain::accounts::{account::AccountKind, permission::Permission, role::Role};

/// A right of a site's `session.ts`, with the permissions that its views and buttons need.
type Right = (&'static str, &'static [Permission]);

const OF_DASHBOARD: &[Right] = &[
    ("reports", &[Permission::ViewFigures]),
    ("apps", &[Permission::ListApps]),
    ("app_settings", &[Permission::ManageApps]),
    ("rewards", &[Permission::ViewActivity]),
    ("replay", &[Permission::ReplayReward]),
    ("replay_many", &[Permission::FollowReplays, Permission::ReplayManyRewards]),
    ("users", &[Permission::ManageUsers]),
    ("keys", &[Permission::ViewReportKeys]),
    ("pub_key", &[Permission::ViewPubKey]),
    ("members", &[Permission::ViewMembers]),
    ("alarms", &[Permission::ManageApps, Permission::TestCallbacks]),
    ("passkeys", &[Permission::ViewOwnPasskeys]),
    ("sessions", &[Permission::ViewOwnSessions]),
    ("audit", &[Permission::ViewAudit]),
];

const OF_CONSOLE: &[Right] = &[
    ("manage", &[Permission::ManageStore, Permission::ManageMembers, Permission::ViewPublisherKeys]),
    ("replay", &[Permission::ReplayAnyReward, Permission::ReplayManyOfAnyApp]),
];

/// Every role of the console has these, so its pages ask for no right.
const OF_ALL_OF_CONSOLE: [Permission; 5] = [
    Permission::ViewStore,
    Permission::ViewMembers,
    Permission::ViewAudit,
    Permission::ViewOwnPasskeys,
    Permission::ViewOwnSessions,
];

/// The texts between quotation marks.
fn texts(line: &str) -> BTreeSet<&str> {
    line.split('"').skip(1).step_by(2).collect()
}

fn roles_of(kind: AccountKind) -> impl Iterator<Item = Role> {
    Role::ALL.into_iter().filter(move |role| role.kind() == kind)
}

fn assert_offered(path: &str, rights: &[Right], kind: AccountKind) {
    let source = read(path);
    let (_, after) = source.split_once("const RIGHTS = {").unwrap();
    let (table, _) = after.split_once('}').unwrap();
    let rows = table.split("],").filter_map(|row| row.trim().split_once(": ["));
    let offered: BTreeSet<_> = rows.map(|(right, roles)| (right, texts(roles))).collect();
    let granted: BTreeSet<_> = rights
        .iter()
        .map(|(right, needed)| {
            let has_all = |role: &Role| needed.iter().all(|permission| permission.is_granted_to(*role));
            (*right, roles_of(kind).filter(has_all).map(|role| role.as_str()).collect())
        })
        .collect();
    assert_eq!(offered, granted, "{path}");
}

#[test]
fn the_pages_offer_a_role_what_the_permission_table_grants() {
    assert_offered("src/web/dashboard/session.ts", OF_DASHBOARD, AccountKind::Publisher);
    assert_offered("src/web/console/session.ts", OF_CONSOLE, AccountKind::Operator);
}

#[test]
fn a_right_of_the_console_stands_for_permissions_that_the_same_roles_have() {
    for role in roles_of(AccountKind::Operator) {
        for (right, needed) in OF_CONSOLE {
            let granted: BTreeSet<_> = needed.iter().map(|permission| permission.is_granted_to(role)).collect();
            assert_eq!(granted.len(), 1, "{right} of {}", role.as_str());
        }
        for permission in OF_ALL_OF_CONSOLE {
            assert!(permission.is_granted_to(role), "{permission:?} of {}", role.as_str());
        }
    }
}
