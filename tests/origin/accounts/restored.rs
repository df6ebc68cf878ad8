//! An account that is put back to an earlier copy: sessions and invites that ended after the copy stay ended.

use super::*;

struct People {
    ada: Person,
    bob: Person,
    /// Another session of Ada.
    other: String,
    /// An open invite.
    invite: NewInvite,
}

fn people() -> (World, People) {
    let world = World::new();
    let (ada, bob) = (world.join("Ada", Role::Owner), world.join("Bob", Role::Owner));
    let people = People {
        other: world.sign_in(&ada, 2).unwrap(),
        invite: world.invite(Actor::Member(ada.id), "Cleo", Role::Analyst).unwrap(),
        ada,
        bob,
    };
    (world, people)
}

type Step = fn(&World, &People);

/// Everything that can end: how to end it, and how to check that it has ended.
fn endings() -> Vec<(&'static str, Step, Step)> {
    let session_ends: Step = |world, people| assert!(!world.is_live(&people.other));
    vec![
        (
            "a session is signed out",
            |world, people| {
                let session = people.other.clone();
                world.send(SignOut { session }).unwrap();
            },
            session_ends,
        ),
        (
            "a session is ended",
            |world, people| {
                let session_id = world.session(&people.other).unwrap().session_id;
                let member = people.ada.id;
                world.send(EndSession { member, session_id }).unwrap();
            },
            session_ends,
        ),
        (
            "a member is removed",
            |world, people| world.change(Actor::Operator, people.bob.id, None).unwrap(),
            |world, people| {
                assert!(!world.is_live(&people.bob.session));
                assert_eq!(refusal(world.sign_in(&people.bob, 9)), (401, "passkey_refused"));
                assert_eq!(world.roles(), [("Ada".to_owned(), Role::Owner)]);
            },
        ),
        (
            "a role is lowered",
            |world, people| {
                world.change(Actor::Operator, people.bob.id, Some(Role::Analyst)).unwrap();
            },
            |world, _| assert_eq!(world.roles()[1].1, Role::Analyst),
        ),
        (
            "a member is recovered",
            |world, people| {
                let recovery = world.recover(Actor::Operator, people.bob.id).unwrap();
                world.accept(&recovery.invite).unwrap();
            },
            |world, people| assert_eq!(refusal(world.sign_in(&people.bob, 9)), (401, "passkey_refused")),
        ),
        (
            "an invite is withdrawn",
            |world, people| {
                let by = Actor::Operator;
                let invite_id = people.invite.invite_id.clone();
                world.send(WithdrawInvite { by, invite_id }).unwrap();
            },
            |world, people| assert_eq!(refusal(world.read_invite(&people.invite.invite)), (404, "unknown_invite")),
        ),
        (
            "an invite is spent",
            |world, people| drop(world.accept(&people.invite.invite).unwrap()),
            |world, people| assert_eq!(refusal(world.accept(&people.invite.invite)), (404, "unknown_invite")),
        ),
        (
            "the account is suspended",
            |world, _| world.suspend(true),
            |world, people| assert_eq!(refusal(world.sign_in(&people.ada, 9)), (403, "account_suspended")),
        ),
    ]
}

#[test]
fn sessions_and_invites_that_ended_stay_ended() {
    for (name, end, check) in endings() {
        let (mut world, people) = people();
        let copy = world.db.copy();
        end(&world, &people);
        check(&world, &people);
        world.put_back(copy);
        check(&world, &people);
        // In each case all sessions and invites of the copy end, because any of them may have ended after it.
        for session in [&people.ada.session, &people.bob.session, &people.other] {
            assert!(!world.is_live(session), "{name}");
        }
        assert_eq!(world.members().invites, [], "{name}");
        let doubt = ("members of lumen-arcade".to_owned(), "account_restored".to_owned());
        assert_eq!(world.registers.doubts(), [doubt], "{name}");
        assert!(world.audit().iter().any(|row| row[1] == "account_restored"), "{name}");
    }
}

#[test]
fn an_account_keeps_its_sessions_if_its_restore_lost_no_end() {
    let (mut world, people) = people();
    let copy = world.db.copy();
    world.join("Dan", Role::Analyst);
    world.put_back(copy);
    // Dan's invite was spent after the copy.
    assert!(!world.is_live(&people.ada.session));
    let session = world.sign_in(&people.ada, 3).unwrap();
    let copy = world.db.copy();
    world.session_in_use(&session, domain::accounts::session::SessionUse::Action).unwrap();
    world.put_back(copy);
    assert!(world.is_live(&session));
}

/// By `make restore`, also if nothing has ended since the copy.
#[test]
fn an_account_that_is_put_back_on_purpose_ends_all_sessions_and_invites() {
    let (world, people) = people();
    world.db.mark_put_back();
    assert!(!world.is_live(&people.ada.session));
    assert_eq!(world.members().invites, []);
    let session = world.sign_in(&people.ada, 3).unwrap();
    assert!(world.is_live(&session), "it is put back once");
}

#[test]
fn a_challenge_from_before_the_restore_is_refused() {
    let (mut world, people) = people();
    let challenge = world.challenge();
    let sign_in = |challenge, sign_count| SignIn {
        passkey: people.ada.passkey_use(sign_count, challenge),
        user_agent: "Firefox".into(),
    };
    let copy = world.db.copy();
    world.send(sign_in(challenge.clone(), 3)).unwrap();
    world.change(Actor::Operator, people.bob.id, None).unwrap();
    world.put_back(copy);
    assert_eq!(refusal(world.send(sign_in(challenge, 4))), (401, "passkey_refused"));
    world.pass(1);
    world.send(sign_in(world.challenge(), 5)).unwrap();
}

#[test]
fn nobody_gets_in_until_the_register_has_answered() {
    let (mut world, people) = people();
    let copy = world.db.copy();
    world.change(Actor::Operator, people.bob.id, None).unwrap();
    world.put_back(copy);
    world.registers.are_down.set(true);
    assert_eq!(refusal(world.session(&people.bob.session)), (503, "unavailable"));
    assert_eq!(refusal(world.sign_in(&people.bob, 9)), (503, "unavailable"));
    world.registers.are_down.set(false);
    assert!(!world.is_live(&people.bob.session));
}

#[test]
fn a_repeat_that_is_refused_registers_what_was_changed() {
    let (mut world, people) = people();
    let copy = world.db.copy();
    let remove = || ChangeMember { by: Actor::Operator, member: people.bob.id, role: None };
    let service = world.service(true);
    crate::now(service.command(ReadMembers {}.into())).unwrap();
    world.registers.are_down.set(true);
    let answer = crate::now(service.command(remove().into()));
    assert_eq!(refusal(answer), (503, "unavailable"));
    world.registers.are_down.set(false);
    let answer = crate::now(service.command(remove().into()));
    assert_eq!(refusal(answer), (404, "not_found"));
    drop(service);
    world.put_back(copy);
    assert_eq!(refusal(world.sign_in(&people.bob, 9)), (401, "passkey_refused"));
}

/// The alarm of an old copy starts the process, and the runtime may not tell the object its name.
#[test]
fn an_object_that_does_not_know_its_name_reads_its_register_too() {
    let (mut world, people) = people();
    let copy = world.db.copy();
    world.change(Actor::Operator, people.bob.id, None).unwrap();
    world.put_back(copy);
    let service = world.service(false);
    crate::now(service.alarm());
    let sessions = ReadSessions { member: people.bob.id };
    let Reply::Sessions(sessions) = crate::now(service.command(sessions.into())).unwrap() else {
        panic!("no sessions");
    };
    assert_eq!(sessions, []);
    // An empty account that does not know its name answers nobody.
    drop(service);
    let nobody = World::new();
    let answer = crate::now(nobody.service(false).command(ReadMembers {}.into()));
    assert_eq!(refusal(answer), (503, "unavailable"));
}

#[test]
fn a_register_that_was_lost_gets_everything_again() {
    let (mut world, people) = people();
    let copy = world.db.copy();
    world.change(Actor::Operator, people.bob.id, None).unwrap();
    world.registers.lose(&format!("register-{}", object_name(world.account.id())));
    world.join("Dan", Role::Analyst);
    world.put_back(copy);
    assert_eq!(refusal(world.sign_in(&people.bob, 9)), (401, "passkey_refused"));
}
