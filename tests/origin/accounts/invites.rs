//! Invites: issued, read, accepted once, withdrawn; recoveries.

use super::*;
use domain::accounts::{account::Account, invite, session};
use platform::failure::Failure;

#[test]
fn an_invite_is_shown_once_read_and_accepted() {
    let world = World::new();
    let invited = world.invite(Actor::Operator, " Ada ", Role::Owner).unwrap();
    assert_eq!(invite::verify(&world::keys(), &invited.invite), Some(world.account.clone()));
    assert_eq!(invited.expires_at_ms, world::NOW + 7 * DAY_MS);
    let details = world.read_invite(&invited.invite).unwrap();
    assert_eq!((details.name.as_str(), details.role), ("Ada", Role::Owner));
    assert_eq!((details.is_recovery, details.expires_at_ms), (false, invited.expires_at_ms));
    let row = &world.members().invites[0];
    assert_eq!((row.invite_id.as_str(), row.by.as_str()), (invited.invite_id.as_str(), "the operator"));
    assert!(!row.is_recovery);

    let ada = world.accept(&invited.invite).unwrap();
    assert_eq!(ada.id, details.member, "the passkey's user handle was made of this id");
    let kind = world.account.kind();
    assert_eq!(session::verify(&world::keys(), kind, &ada.session), Some(world.account.clone()));
    let members = world.members();
    assert!(members.invites.is_empty());
    assert_eq!((members.members[0].name.as_str(), members.members[0].passkeys), ("Ada", 1));
    assert_eq!(members.members[0].last_seen_at_ms, Some(world::NOW));
    let session = world.session(&ada.session).unwrap();
    assert!(session.is_verified(world::NOW) && !session.is_local);
}

#[test]
fn of_two_who_accept_one_invite_at_once_one_joins() {
    let world = World::new();
    let invited = world.invite(Actor::Operator, "Ada", Role::Owner).unwrap();
    let first = world.accept(&invited.invite).unwrap();
    assert_eq!(refusal(world.accept(&invited.invite)), (404, "unknown_invite"));
    assert_eq!(refusal(world.read_invite(&invited.invite)), (404, "unknown_invite"));
    assert_eq!(world.roles(), [("Ada".into(), Role::Owner)]);
    assert!(world.is_live(&first.session));
}

#[test]
fn an_invite_expires_after_7_days() {
    let world = World::new();
    let invited = world.invite(Actor::Operator, "Ada", Role::Owner).unwrap();
    world.pass(7 * DAY_MS - 1);
    assert!(world.read_invite(&invited.invite).is_ok());
    world.pass(1);
    assert_eq!(refusal(world.read_invite(&invited.invite)), (404, "unknown_invite"));
    assert_eq!(refusal(world.accept(&invited.invite)), (404, "unknown_invite"));
    assert!(world.members().invites.is_empty());
}

#[test]
fn a_refused_passkey_leaves_the_invite_as_it_is() {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    let invited = world.invite(Actor::Operator, "Bob", Role::Analyst).unwrap();
    let before = world.dump();
    let mut passkey = world.new_passkey();
    passkey.credential_id = ada.credential;
    let refused = world.accept_with(&invited.invite, Some(passkey));
    assert_eq!(refusal(refused), (401, "passkey_refused"));
    assert_eq!(world.dump(), before);
    assert!(world.accept(&invited.invite).is_ok());
}

#[test]
fn a_local_sign_in_needs_no_passkey_and_counts_as_verified() {
    let world = World::new();
    let invited = world.invite(Actor::Operator, "Ada", Role::Owner).unwrap();
    let signed_in = world.accept_with(&invited.invite, None).unwrap();
    world.pass(HOUR_MS);
    let session = world.session(&signed_in.session).unwrap();
    assert!(session.is_local && session.is_verified(world.now_ms.get()));
    assert_eq!(session.times.verified_at_ms, None);
    assert_eq!(world.members().members[0].passkeys, 0);
}

#[test]
fn an_invite_names_a_person_and_a_role_of_its_kind_of_account() {
    let world = World::new();
    for (name, role) in [("", Role::Owner), ("A\nB", Role::Owner), ("Ada", Role::Admin), ("Ada", Role::Support)] {
        assert_eq!(refusal(world.invite(Actor::Operator, name, role)), (400, "invalid_field"), "{name}");
    }
    let operator = World::of(Account::Operator);
    assert_eq!(refusal(operator.invite(Actor::Operator, "Ada", Role::Owner)), (400, "invalid_field"));
    operator.join("Ada", Role::Admin);
    assert!(world.dump().iter().all(|(_, rows)| rows.is_empty()), "a refusal stores nothing");
}

#[test]
fn an_object_serves_one_account_alone() {
    let world = World::new();
    let to = || Invitee::New { name: "Ada".into(), role: Role::Owner };
    let of_another = Invite { owner: Owner::of(&Account::Operator), by: Actor::Operator, to: to() };
    assert!(world.send(of_another.clone()).is_err());
    world.join("Ada", Role::Owner);
    assert!(world.send(of_another).is_err());
    let nobody = Owner { letter: "p".into(), id: "a_b".into() };
    assert!(world.send(Invite { owner: nobody, by: Actor::Operator, to: to() }).is_err());
}

#[test]
fn an_open_invite_is_withdrawn_once() {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    let invited = world.invite(Actor::Member(ada.id), "Bob", Role::Analyst).unwrap();
    let withdraw = |id: &str| world.send(WithdrawInvite { by: Actor::Member(ada.id), invite_id: id.into() });
    withdraw(&invited.invite_id).unwrap();
    assert_eq!(refusal(withdraw(&invited.invite_id)), (404, "not_found"));
    assert_eq!(refusal(world.accept(&invited.invite)), (404, "unknown_invite"));
    let late = world.invite(Actor::Operator, "Cleo", Role::Analyst).unwrap();
    world.pass(7 * DAY_MS);
    assert_eq!(refusal(withdraw(&late.invite_id)), (404, "not_found"));
}

#[test]
fn a_recovery_ends_sessions_and_passkeys_at_once_and_lets_the_member_back_in() {
    let world = World::new();
    let (ada, bob) = (world.join("Ada", Role::Owner), world.join("Bob", Role::Developer));
    let second = world.sign_in(&bob, 2).unwrap();
    let invited = world.recover(Actor::Member(ada.id), bob.id).unwrap();
    assert!(!world.is_live(&bob.session) && !world.is_live(&second) && world.is_live(&ada.session));
    assert_eq!(refusal(world.sign_in(&bob, 3)), (401, "passkey_refused"));
    let members = world.members();
    assert_eq!(members.members[1].passkeys, 0);
    assert!(members.invites[0].is_recovery);
    assert_eq!((members.invites[0].name.as_str(), members.invites[0].role), ("Bob", Role::Developer));

    let details = world.read_invite(&invited.invite).unwrap();
    assert!(details.is_recovery);
    assert_eq!((details.name.as_str(), details.role, details.member), ("Bob", Role::Developer, bob.id));
    let back = world.accept(&invited.invite).unwrap();
    assert_eq!(back.id, bob.id);
    assert_eq!(world.roles().len(), 2, "the member is the same");
    world.sign_in(&back, 2).unwrap();
    assert_eq!(refusal(world.accept(&invited.invite)), (404, "unknown_invite"));
}

#[test]
fn a_second_recovery_replaces_the_first() {
    let world = World::new();
    let (ada, bob) = (world.join("Ada", Role::Owner), world.join("Bob", Role::Developer));
    let astray = world.recover(Actor::Member(ada.id), bob.id).unwrap();
    let second = world.recover(Actor::Member(ada.id), bob.id).unwrap();
    assert_eq!(refusal(world.accept(&astray.invite)), (404, "unknown_invite"));
    world.accept(&second.invite).unwrap();
    // A recovery after the return ends that one, too.
    let third = world.recover(Actor::Operator, bob.id).unwrap();
    world.change(Actor::Member(ada.id), bob.id, None).unwrap();
    assert_eq!(refusal(world.accept(&third.invite)), (404, "unknown_invite"));
}

#[test]
fn owners_see_a_recovery_for_7_days() {
    let world = World::new();
    let (ada, bob) = (world.join("Ada", Role::Owner), world.join("Bob", Role::Developer));
    let cleo = world.join("Cleo", Role::Analyst);
    world.recover(Actor::Member(ada.id), bob.id).unwrap();
    let shown = world.session(&ada.session).unwrap().recoveries;
    assert_eq!(shown, [Recovery { member_name: "Bob".into(), by: "Ada".into(), at_ms: world::NOW }]);
    assert!(world.session(&cleo.session).unwrap().recoveries.is_empty());
    world.pass(SECOND_MS);
    world.recover(Actor::Operator, cleo.id).unwrap();
    let shown = world.session(&ada.session).unwrap().recoveries;
    let names: Vec<_> = shown.iter().map(|recovery| (recovery.member_name.as_str(), recovery.by.as_str())).collect();
    assert_eq!(names, [("Cleo", "the operator"), ("Bob", "Ada")]);
    world.pass(7 * DAY_MS - SECOND_MS);
    let session = world.sign_in(&ada, 2).unwrap();
    assert_eq!(world.session(&session).unwrap().recoveries.len(), 1);
    world.pass(SECOND_MS);
    assert!(world.session(&session).unwrap().recoveries.is_empty());
}

#[test]
fn nobody_recovers_themselves_or_a_stranger() {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    assert_eq!(refusal(world.recover(Actor::Member(ada.id), ada.id)), (403, "role_forbids"));
    assert_eq!(refusal(world.recover(Actor::Operator, MemberId([9; 8]))), (404, "not_found"));
    assert!(world.is_live(&ada.session));
}

#[test]
fn no_invite_and_no_session_is_stored_as_it_is() {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    world.invite(Actor::Operator, "Bob", Role::Analyst).unwrap();
    world.sign_in(&ada, 2).unwrap();
    let stored = format!("{:?}", world.dump());
    for secret in world.secrets.borrow().iter() {
        let random = secret.rsplit('_').nth(1).unwrap();
        assert!(!stored.contains(secret.as_str()) && !stored.contains(random), "{secret}");
    }
}

#[test]
fn an_issuer_who_may_no_longer_invite_leaves_no_invite_open() {
    type End = fn(&World, MemberId) -> Result<(), Failure>;
    let endings: [End; 4] = [
        |world, id| world.change(Actor::Operator, id, None),
        |world, id| world.change(Actor::Operator, id, Some(Role::Developer)),
        |world, id| world.change(Actor::Operator, id, Some(Role::Analyst)),
        |world, id| world.recover(Actor::Operator, id).map(drop),
    ];
    for (at, end) in endings.into_iter().enumerate() {
        let world = World::new();
        let [ada, bob, cleo] = ["Ada", "Bob", "Cleo"].map(|name| world.join(name, Role::Owner));
        // If two members have the same name, the other's invites stay.
        let namesake = world.join("Bob", Role::Owner);
        let stay = [Actor::Operator, Actor::Member(ada.id), Actor::Member(namesake.id)]
            .map(|by| world.invite(by, "Dan", Role::Analyst).unwrap());
        let end_with_it = [
            world.invite(Actor::Member(bob.id), "Eve", Role::Owner).unwrap(),
            world.recover(Actor::Member(bob.id), cleo.id).unwrap(),
        ];
        end(&world, bob.id).unwrap();
        for invited in &end_with_it {
            assert_eq!(refusal(world.read_invite(&invited.invite)), (404, "unknown_invite"), "{at}");
            assert_eq!(refusal(world.accept(&invited.invite)), (404, "unknown_invite"), "{at}");
        }
        for invited in &stay {
            world.accept(&invited.invite).unwrap();
        }
    }
}

#[test]
fn an_owner_who_stays_one_keeps_its_invites() {
    let world = World::new();
    let (_, bob) = (world.join("Ada", Role::Owner), world.join("Bob", Role::Owner));
    let invited = world.invite(Actor::Member(bob.id), "Eve", Role::Analyst).unwrap();
    world.change(Actor::Operator, bob.id, Some(Role::Owner)).unwrap();
    world.accept(&invited.invite).unwrap();
}
