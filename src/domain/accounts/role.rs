//! The roles of members. A publisher's account has owners, developers, analysts and user support; the operator's
//! account has admins and support.

use serde::{Deserialize, Serialize};

use super::account::AccountKind;

crate::named_values! {
    /// A member's role in its account, with its text in JSON and in storage.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Role {
        /// May do everything in a publisher's account.
        Owner = "owner",
        /// Manages keys and apps of a publisher, and sees its figures, rewards and audit.
        Developer = "developer",
        /// Sees a publisher's figures and its rewards, without the users and some other fields.
        Analyst = "analyst",
        /// Sees a publisher's figures and its rewards with their users, and resends single callbacks.
        UserSupport = "user_support",
        /// May do everything in the operator's account.
        Admin = "admin",
        /// Reads the operator's data except Pub-Keys, and resends callbacks.
        Support = "support",
    }
}

impl Role {
    /// The kind of account that has this role. An invite with this role to another kind of account must be refused.
    pub const fn kind(self) -> AccountKind {
        match self {
            Self::Owner | Self::Developer | Self::Analyst | Self::UserSupport => AccountKind::Publisher,
            Self::Admin | Self::Support => AccountKind::Operator,
        }
    }

    /// True for the highest role of an account. At least one member must have it.
    pub const fn is_highest(self) -> bool {
        matches!(self, Self::Owner | Self::Admin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_has_one_name_in_texts_and_in_json() {
        for role in Role::ALL {
            assert_eq!(Role::parse(role.as_str()), Some(role));
            let json = serde_json::to_string(&role).unwrap();
            assert_eq!(json, format!("\"{}\"", role.as_str()));
            assert_eq!(serde_json::from_str::<Role>(&json).unwrap(), role);
        }
        for bad in ["", "Owner", "owners", "root"] {
            assert_eq!(Role::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn each_kind_of_account_has_one_highest_role() {
        for kind in AccountKind::ALL {
            let highest = |role: &Role| role.kind() == kind && role.is_highest();
            assert_eq!(Role::ALL.into_iter().filter(highest).count(), 1);
        }
    }
}
