//! Rates within an account: an excess call is refused with the time to wait, and nobody locks another member out.

use super::*;
use contract::{
    accounts::{Announce, AnnouncedChange, PendingAudit, Settle},
    catalog::SecretChange,
    operation::Bytes,
};
use domain::{accounts::account::Account, model::AppId, reporting::keys::Scope};
use platform::failure::Failure;

const TOO_MANY: (u16, &str) = (429, "rate_limit_exceeded");

/// The seconds that a refusal asks to wait.
fn wait_s<T: std::fmt::Debug>(outcome: Result<T, Failure>) -> u32 {
    match outcome.unwrap_err() {
        Failure::Refused(error) => {
            assert_eq!((error.status, error.code), TOO_MANY);
            error.retry_after_s.unwrap()
        }
        internal => panic!("{internal:?}"),
    }
}

fn read_passkey(world: &World, credential_id: &Bytes) -> Result<Passkey, Failure> {
    world.send(ReadPasskey { credential_id: credential_id.clone() })
}

fn count_failure(world: &World, credential_id: &Bytes) -> Result<(), Failure> {
    let credential_id = credential_id.clone();
    world.send(CountFailure { credential_id }).map(drop)
}

fn announce(world: &World, member: MemberId, change: AnnouncedChange) -> Result<PendingAudit, Failure> {
    let by = Actor::Member(member);
    world.send(Announce { by, change })
}

fn create_key() -> AnnouncedChange {
    AnnouncedChange::CreateReportKey { label: "BI".to_owned(), scope: Scope::Reporting }
}

#[test]
fn a_passkey_that_fails_10_times_a_minute_waits_and_no_other_does() {
    let world = World::new();
    let (ada, bob) = (world.join("Ada", Role::Owner), world.join("Bob", Role::Owner));
    for _ in 0..10 {
        read_passkey(&world, &ada.credential).unwrap();
        count_failure(&world, &ada.credential).unwrap();
        world.pass(SECOND_MS);
    }
    assert_eq!(wait_s(read_passkey(&world, &ada.credential)), 51);
    assert_eq!(wait_s(count_failure(&world, &ada.credential)), 51);
    read_passkey(&world, &bob.credential).unwrap();
    world.pass(50 * SECOND_MS);
    read_passkey(&world, &ada.credential).unwrap();
    for _ in 0..10 {
        count_failure(&world, &ada.credential).unwrap();
    }
    assert_eq!(refusal(count_failure(&world, &ada.credential)), TOO_MANY);
}

#[test]
fn strangers_lock_no_member_out() {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    let invited = world.invite(Actor::Operator, "Bob", Role::Analyst).unwrap();
    for n in 0..100_u8 {
        let unknown = Bytes(vec![n; 16]);
        let expected = if n < 10 { (401, "passkey_refused") } else { TOO_MANY };
        assert_eq!(refusal(read_passkey(&world, &unknown)), expected, "{n}");
        assert!(count_failure(&world, &unknown).is_ok(), "it was counted when it was looked for");
    }
    assert_eq!(refusal(world.read_invite("inv_p_lumen-arcade_0_0")), TOO_MANY);
    assert_eq!(crate::dump(&world.db, "rates").len(), 1, "one row for all that is unknown");
    read_passkey(&world, &ada.credential).unwrap();
    world.sign_in(&ada, 2).unwrap();
    world.read_invite(&invited.invite).unwrap();
    world.accept(&invited.invite).unwrap();
}

#[test]
fn an_unknown_account_stores_nothing() {
    let world = World::new();
    for n in 0..20_u8 {
        let unknown = Bytes(vec![n; 16]);
        assert_eq!(refusal(read_passkey(&world, &unknown)), (401, "passkey_refused"));
        count_failure(&world, &unknown).unwrap();
        assert_eq!(refusal(world.read_invite("inv_p_lumen-arcade_0_0")), (404, "unknown_invite"));
    }
    assert!(world.dump().iter().all(|(_, rows)| rows.is_empty()));
}

#[test]
fn members_issue_30_invites_an_hour_and_the_operator_is_not_bound() {
    let world = World::new();
    let (ada, bob) = (world.join("Ada", Role::Owner), world.join("Bob", Role::Owner));
    for _ in 0..30 {
        world.invite(Actor::Member(bob.id), "Cleo", Role::Analyst).unwrap();
    }
    let before = world.dump();
    world.pass(HOUR_MS - MINUTE_MS);
    assert_eq!(wait_s(world.invite(Actor::Member(bob.id), "Cleo", Role::Analyst)), 61);
    assert_eq!(refusal(world.recover(Actor::Member(bob.id), ada.id)), TOO_MANY);
    assert_eq!(world.dump(), before, "a refused recovery ends nothing");
    // Another owner has a share of its own.
    world.invite(Actor::Member(ada.id), "Cleo", Role::Analyst).unwrap();
    world.recover(Actor::Operator, bob.id).unwrap();
    world.pass(MINUTE_MS);
    world.invite(Actor::Member(bob.id), "Cleo", Role::Analyst).unwrap();
}

/// Two members who do as much as they can leave a third its own; four are too many for the account.
#[test]
fn no_two_members_use_up_what_others_need() {
    let world = World::new();
    let names = ["Ada", "Bob", "Cleo", "Dan"];
    let members = names.map(|name| world.join(name, Role::Owner).id);
    let key = |member| announce(&world, member, create_key());
    for member in &members[..3] {
        for _ in 0..10 {
            key(*member).unwrap();
        }
        assert_eq!(refusal(key(*member)), TOO_MANY);
    }
    assert_eq!(refusal(key(members[3])), TOO_MANY);
    let revoke = AnnouncedChange::RevokeReportKey { key_id: "0123456789abcdef".to_owned() };
    announce(&world, members[3], revoke).unwrap();
}

#[test]
fn refused_changes_cost_nothing_and_ending_a_secret_has_no_rate() {
    let world = World::new();
    let dan = world.join("Dan", Role::Developer).id;
    let app_id = AppId::parse("10000001").unwrap();
    let change = |fields: &[&str]| AnnouncedChange::ChangeApp {
        app_id,
        fields: fields.iter().map(|field| (*field).to_owned()).collect(),
    };
    let settle = |entry, is_done| {
        let settle = Settle { entry, is_done, subject: None, detail: None };
        world.send(settle).unwrap();
    };
    for _ in 0..100 {
        let PendingAudit { entry } = announce(&world, dan, change(&["name", "currency"])).unwrap();
        settle(entry, false);
        settle(entry, false);
    }
    for _ in 0..20 {
        let PendingAudit { entry } = announce(&world, dan, change(&["currency"])).unwrap();
        settle(entry, true);
        settle(entry, false);
    }
    assert_eq!(refusal(announce(&world, dan, change(&["currency"]))), TOO_MANY);
    for _ in 0..10 {
        announce(&world, dan, change(&["name"])).unwrap();
    }
    assert_eq!(refusal(announce(&world, dan, change(&["name"]))), TOO_MANY);
    let secret = |change| AnnouncedChange::ChangeSecret { app_id, change };
    assert_eq!(refusal(announce(&world, dan, secret(SecretChange::RenewClick))), TOO_MANY);
    for end in [SecretChange::EndPreviousCallback, SecretChange::EndPreviousClick, SecretChange::EndClick] {
        announce(&world, dan, secret(end)).unwrap();
    }
}

#[test]
fn members_change_30_roles_an_hour_and_remove_as_many_as_they_must() {
    let world = World::new();
    let (ada, bob) = (world.join("Ada", Role::Owner), world.join("Bob", Role::Analyst));
    let by = || Actor::Member(ada.id);
    let roles = [Role::Developer, Role::Analyst];
    for n in 0..30 {
        world.change(by(), bob.id, Some(roles[n % 2])).unwrap();
    }
    assert_eq!(refusal(world.change(by(), bob.id, Some(roles[0]))), TOO_MANY);
    world.change(Actor::Operator, bob.id, Some(roles[0])).unwrap();
    world.change(by(), bob.id, None).unwrap();
}

#[test]
fn counts_leave_with_the_next_sweep() {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    count_failure(&world, &ada.credential).unwrap();
    world.pass(DAY_MS - 1);
    origin::objects::accounts::alarm(&world.db, world.now_ms.get()).unwrap();
    assert_eq!(crate::dump(&world.db, "rates").len(), 1);
    world.pass(1);
    origin::objects::accounts::alarm(&world.db, world.now_ms.get()).unwrap();
    assert!(crate::dump(&world.db, "rates").is_empty());
}

#[test]
fn a_clock_that_steps_back_prolongs_no_wait() {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    for _ in 0..10 {
        count_failure(&world, &ada.credential).unwrap();
    }
    world.pass(-HOUR_MS);
    read_passkey(&world, &ada.credential).unwrap();
}

#[test]
fn the_operators_members_replay_600_times_an_hour_and_what_is_refused_costs_nothing() {
    let world = World::of(Account::Operator);
    let sam = world.join("Sam", Role::Support);
    let operate = |action: &str| {
        let (action, subject) = (action.to_owned(), "10000001".to_owned());
        announce(&world, sam.id, AnnouncedChange::Operate { action, subject })
    };
    for n in 0..600 {
        let action = ["reward_replayed", "rewards_replayed"][n % 2];
        let refused = Settle { entry: operate(action).unwrap().entry, is_done: false, subject: None, detail: None };
        world.send(refused).unwrap();
        operate(action).unwrap();
    }
    for action in ["reward_replayed", "rewards_replayed"] {
        assert_eq!(refusal(operate(action)), TOO_MANY);
    }
    operate("app_put").unwrap();
}
