//! The permissions of roles as one table, and the permissions that need a fresh passkey.

use super::role::Role::{self, Admin, Analyst, Developer, Owner, Support, UserSupport};
use crate::model::ApiError;

/// Refuses a call that the member's role does not permit.
pub const ROLE_FORBIDS: ApiError = ApiError::new(403, "role_forbids", "your role in the account does not allow this");
/// Refuses a call that needs a fresh passkey in a session without one.
pub const VERIFY_FIRST: ApiError = ApiError::new(
    403,
    "verify_first",
    "confirm with your passkey first: this needs a confirmation in the last 5 minutes",
);

/// Whether a permission needs a confirmation with a passkey in the last 5 minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passkey {
    Any,
    Fresh,
}

macro_rules! permissions {
    ($($(#[$doc:meta])* $permission:ident: $passkey:ident, $roles:expr;)*) => {
        /// Something that a member may do in its own account.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Permission { $($(#[$doc])* $permission),* }

        impl Permission {
            /// Every permission, in the order of the table.
            pub const ALL: [Self; [$(stringify!($permission)),*].len()] = [$(Self::$permission),*];

            /// The row of the table: the roles that have the permission, and the passkey that it needs.
            const fn row(self) -> (&'static [Role], Passkey) {
                match self { $(Self::$permission => (&$roles, Passkey::$passkey)),* }
            }
        }
    };
}

// Secrets, keys, apps, members, sessions and passkeys need a fresh passkey, so that a stolen cookie alone gives access
// to none of them.
permissions! {
    /// See the overview, reports, suggestions and exports.
    ViewFigures: Any, [Owner, Developer, Analyst, UserSupport];
    /// See the report keys, without their texts.
    ViewReportKeys: Any, [Owner, Developer];
    /// Issue and revoke report keys.
    ManageReportKeys: Fresh, [Owner, Developer];
    /// See the Pub-Key itself.
    ViewPubKey: Fresh, [Owner, Developer];
    /// Request a new Pub-Key, and see pending requests for one.
    RequestPubKey: Any, [Owner, Developer];
    /// See the names of the apps, their platforms and other basics.
    ListApps: Any, [Owner, Developer, Analyst, UserSupport];
    /// See an app's settings. No secret is among them.
    ViewApps: Any, [Owner, Developer];
    /// Set up and change apps and their secrets.
    ManageApps: Fresh, [Owner, Developer];
    /// Send test callbacks of apps to their saved URLs.
    TestCallbacks: Fresh, [Owner, Developer];
    /// See what a draft of a callback would send.
    PreviewCallbacks: Any, [Owner, Developer];
    /// See what the users of apps are offered, and make tracking URLs.
    ViewOffers: Any, [Owner, Developer];
    /// See counts of rewards, the list of rewards, and the history of each. An analyst sees only some of the fields.
    ViewActivity: Any, [Owner, Developer, Analyst, UserSupport];
    /// Erase users, export the data stored about them, and issue keys that can do both.
    ManageUsers: Fresh, [Owner];
    /// Resend the callback of one reward.
    ReplayReward: Any, [Owner, Developer, UserSupport];
    /// See the progress of a replay of many rewards, and stop it.
    FollowReplays: Any, [Owner, Developer];
    /// Resend callbacks of many rewards.
    ReplayManyRewards: Fresh, [Owner, Developer];
    /// See the members and the open invites.
    ViewMembers: Any, [Owner, Admin, Support];
    /// Invite members, withdraw invites, change roles, remove members and issue recoveries.
    ManageMembers: Fresh, [Owner, Admin];
    /// Read the account's audit.
    ViewAudit: Any, [Owner, Developer, Admin, Support];
    /// List the member's own sessions.
    ViewOwnSessions: Any, Role::ALL;
    /// End the member's own sessions.
    EndOwnSessions: Fresh, Role::ALL;
    /// List the member's own passkeys.
    ViewOwnPasskeys: Any, Role::ALL;
    /// Add and remove the member's own passkeys.
    ManageOwnPasskeys: Fresh, Role::ALL;
    /// Read the operator's data: publishers, offers, rewards and the rest, but no Pub-Keys.
    ViewStore: Any, [Admin, Support];
    /// See a publisher's Pub-Key.
    ViewPublisherKeys: Fresh, [Admin];
    /// Resend the callback of any reward.
    ReplayAnyReward: Any, [Admin, Support];
    /// Resend callbacks of many rewards of any app. Support may resend at most 100 at a time.
    ReplayManyOfAnyApp: Fresh, [Admin, Support];
    /// Make any change that the operator's token allows.
    ManageStore: Fresh, [Admin];
}

impl Permission {
    /// True if members with this role have the permission.
    pub fn is_granted_to(self, role: Role) -> bool {
        self.row().0.contains(&role)
    }

    /// True if the session must have been verified by a passkey within the last 5 minutes.
    pub fn needs_fresh_passkey(self) -> bool {
        self.row().1 == Passkey::Fresh
    }

    /// Checks the member's role, then whether the session is [verified](super::session::SessionTimes::is_verified). The
    /// role comes first, because a passkey would not help a member whose role forbids the call.
    pub fn check(self, role: Role, is_verified: bool) -> Result<(), ApiError> {
        if !self.is_granted_to(role) {
            Err(ROLE_FORBIDS)
        } else if self.needs_fresh_passkey() && !is_verified {
            Err(VERIFY_FIRST)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::account::AccountKind;

    #[test]
    fn an_owner_and_an_admin_may_do_everything_of_their_site_and_the_others_less() {
        for permission in Permission::ALL {
            let is_granted = permission.is_granted_to(Role::Owner) || permission.is_granted_to(Role::Admin);
            assert!(is_granted, "{permission:?}");
        }
        let of = |role| {
            let granted = |permission: &Permission| permission.is_granted_to(role);
            Permission::ALL.into_iter().filter(granted).collect::<Vec<_>>()
        };
        use Permission::*;
        let own = [ViewOwnSessions, EndOwnSessions, ViewOwnPasskeys, ManageOwnPasskeys];
        assert_eq!(of(Role::Analyst), [&[ViewFigures, ListApps, ViewActivity], &own[..]].concat());
        let of_users = [ViewFigures, ListApps, ViewActivity, ReplayReward];
        assert_eq!(of(Role::UserSupport), [&of_users, &own[..]].concat());
        let of_support = [ViewStore, ReplayAnyReward, ReplayManyOfAnyApp];
        assert_eq!(of(Role::Support), [&[ViewMembers, ViewAudit], &own[..], &of_support].concat());
        for permission in of_support.into_iter().chain([ViewPublisherKeys, ManageStore]) {
            let is_publishers = |role: &Role| role.kind() == AccountKind::Publisher && permission.is_granted_to(*role);
            assert!(!Role::ALL.iter().any(is_publishers), "{permission:?}");
        }
        let of_developers = of(Role::Developer);
        assert!(!of_developers.contains(&ViewMembers) && !of_developers.contains(&ManageMembers));
    }

    #[test]
    fn only_the_highest_role_manages_members() {
        for role in Role::ALL {
            assert_eq!(Permission::ManageMembers.is_granted_to(role), role.is_highest());
        }
    }

    #[test]
    fn the_role_is_checked_before_the_passkey() {
        use Permission::*;
        for (permission, role, is_verified, expected) in [
            (ManageReportKeys, Role::Analyst, false, Err(ROLE_FORBIDS)),
            (ManageReportKeys, Role::Analyst, true, Err(ROLE_FORBIDS)),
            (ManageReportKeys, Role::Developer, false, Err(VERIFY_FIRST)),
            (ManageReportKeys, Role::Developer, true, Ok(())),
            (ViewFigures, Role::Analyst, false, Ok(())),
            (ViewFigures, Role::Admin, true, Err(ROLE_FORBIDS)),
        ] {
            assert_eq!(permission.check(role, is_verified), expected, "{permission:?} {role:?}");
        }
    }
}
