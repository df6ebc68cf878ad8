//! Members of an account: their names, and the rule that an account always keeps an owner.

use super::{ids::MemberId, role::Role};
use crate::{
    catalog::plain_text::{check_line, plain_text},
    model::{ApiError, FieldError},
};
use unicode_security::skeleton;

/// Refuses to remove or demote an account's last owner, or the last admin of the operator's account.
pub const LAST_OWNER: ApiError =
    ApiError::new(409, "last_owner", "the account's last owner can neither leave nor take another role");

/// Names by which the audit refers to non-members. No member may have a name that looks like one of them.
const RESERVED: [&str; 2] = ["the operator", "a former member"];

/// The longest name or label, in characters.
pub const MAX_NAME: usize = 64;
/// Maximum input bytes per character of the limit. HTML entities and tags make the input longer than the text.
const INPUT_PER_CHARACTER: usize = 32;

/// Parses the name of a member or the label of a key: a [line](parse_line) with 1 to 64 characters.
pub fn parse_name(path: &str, input: &str) -> Result<String, FieldError> {
    let name = parse_line(path, input, MAX_NAME)?;
    if RESERVED.into_iter().map(look).any(|reserved| reserved == look(&name)) {
        return Err(FieldError::new(path, "must not be a name that the audit log reserves"));
    }
    Ok(name)
}

/// Reduces a name to its appearance: only letters and digits, in lower case, with Latin letters in place of letters
/// that look like them (Unicode TS #39).
fn look(name: &str) -> String {
    let latin = skeleton(name).collect::<String>().to_lowercase();
    let latin = skeleton(&latin).collect::<String>();
    latin.to_lowercase().chars().filter(|char| char.is_alphanumeric()).collect()
}

/// Parses one line of plain text with 1 to `most` characters. `path` is the field in the error.
pub fn parse_line(path: &str, input: &str, most: usize) -> Result<String, FieldError> {
    if input.len() > most.saturating_mul(INPUT_PER_CHARACTER) {
        return Err(FieldError::new(path, format!("must be at most {most} characters")));
    }
    let text = plain_text(input);
    let line = text.trim();
    check_line(path, line, most)?;
    Ok(line.to_owned())
}

/// A change to an account's members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberChange {
    /// Gives a member another role.
    SetRole(MemberId, Role),
    /// Ends a membership.
    Remove(MemberId),
}

/// Checks that a change leaves the account a member with its highest role. A change to an account that has no such
/// member is allowed.
pub fn check_last_owner(members: &[(MemberId, Role)], change: MemberChange) -> Result<(), ApiError> {
    let role_after = |id: MemberId, role: Role| match change {
        MemberChange::Remove(removed) if removed == id => None,
        MemberChange::SetRole(changed, new) if changed == id => Some(new),
        _ => Some(role),
    };
    let mut after = members.iter().filter_map(|&(id, role)| role_after(id, role));
    let has_owner = members.iter().any(|(_, role)| role.is_highest());
    let keeps_owner = !has_owner || after.any(Role::is_highest);
    keeps_owner.then_some(()).ok_or(LAST_OWNER)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::placeholders::is_invisible;

    #[test]
    fn a_name_is_plain_text_in_one_line() {
        for (input, name) in [
            ("Ada Lovelace", "Ada Lovelace"),
            ("  Ada  ", "Ada"),
            ("Tom & Jerry <3", "Tom & Jerry <3"),
            ("<b>Ada</b> &amp; co.", "Ada & co."),
            ("محمد", "محمد"),
            ("می\u{200c}خواهم", "می\u{200c}خواهم"),
            ("👩\u{200d}💻", "👩\u{200d}💻"),
        ] {
            assert_eq!(parse_name("name", input).as_deref(), Ok(name), "{input}");
        }
        assert!(parse_name("name", &"é".repeat(64)).is_ok());
    }

    #[test]
    fn a_name_that_could_pass_for_another_is_refused() {
        for bad in [
            "",
            "   ",
            "<b></b>",
            "Ada\nLovelace",
            "Ada<br>Lovelace",
            "Ada\tLovelace",
            "Ada\u{7}",
            "Ada\u{85}Lovelace",
            "Ada\u{202e}ecalevoL",
            "Ada&#x202e;ecalevoL",
            "\u{2066}Ada\u{2069}",
            "Ada\u{200f}",
            "Ada\u{61c}",
            "Ada\u{2028}Lovelace",
            "the operator",
            "A Former Member",
            "the  operator",
            "The\u{a0}Operator",
            "the operat\u{43e}r",
            "\u{13a2}he 0perator",
            "the-operator",
            "Ada\u{200b}",
            "\u{feff}Ada",
            "Ada\u{e0041}",
            "\u{200d}\u{fe0f}",
            "\u{3164}",
            &"a".repeat(65),
            &"a".repeat(3_000),
        ] {
            let error = parse_name("name", bad).expect_err(bad);
            assert_eq!(error.path, "name");
            assert!(error.problem.is_ascii(), "{bad:?}: {}", error.problem);
        }
    }

    const A: MemberId = MemberId([1; 8]);
    const B: MemberId = MemberId([2; 8]);
    const C: MemberId = MemberId([3; 8]);

    #[test]
    fn the_last_owner_stays_owner() {
        use MemberChange::*;
        let one = [(A, Role::Owner), (B, Role::Developer)];
        let two = [(A, Role::Owner), (B, Role::Owner)];
        let admins = [(A, Role::Admin), (B, Role::Support)];
        for (members, change, is_allowed) in [
            (one, Remove(A), false),
            (one, SetRole(A, Role::Analyst), false),
            (one, SetRole(A, Role::Owner), true),
            (one, Remove(B), true),
            (one, SetRole(B, Role::Owner), true),
            (one, Remove(C), true),
            (two, Remove(A), true),
            (two, SetRole(B, Role::Developer), true),
            (admins, Remove(A), false),
            (admins, SetRole(A, Role::Support), false),
            (admins, Remove(B), true),
        ] {
            let expected = if is_allowed { Ok(()) } else { Err(LAST_OWNER) };
            assert_eq!(check_last_owner(&members, change), expected, "{members:?} {change:?}");
        }
        assert_eq!(check_last_owner(&[], Remove(A)), Ok(()));
        assert_eq!(check_last_owner(&[(B, Role::Analyst)], Remove(B)), Ok(()));
    }

    proptest! {
        #[test]
        fn an_accepted_name_is_short_and_has_no_unfit_character(input in ".{0,80}") {
            if let Ok(name) = parse_name("name", &input) {
                prop_assert!((1..=MAX_NAME).contains(&name.chars().count()));
                prop_assert!(!name.chars().any(is_invisible));
            }
        }
    }
}
