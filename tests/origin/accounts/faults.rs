//! A command whose write fails leaves the rows as they were, or, if only its answer was lost, as they should be.

use super::*;
use crate::sqlite::{Fault, Faults};
use domain::accounts::session::SessionUse;
use domain::reporting::keys::Scope;
use platform::failure::Failure;

/// An account with two members and an open invite.
struct Setup {
    world: World,
    ada: Person,
    bob: Person,
    invited: NewInvite,
}

fn setup() -> Setup {
    let world = World::new();
    let (ada, bob) = (world.join("Ada", Role::Owner), world.join("Bob", Role::Analyst));
    let invited = world.invite(Actor::Member(ada.id), "Cleo", Role::Developer).unwrap();
    world.pass(HOUR_MS);
    Setup { world, ada, bob, invited }
}

type Act = fn(&Setup) -> Result<(), Failure>;

const ACTS: [(&str, Act); 15] = [
    ("invite", |s| s.world.invite(Actor::Member(s.ada.id), "Dan", Role::Owner).map(drop)),
    ("recover", |s| s.world.recover(Actor::Member(s.ada.id), s.bob.id).map(drop)),
    ("accept", |s| s.world.accept(&s.invited.invite).map(drop)),
    ("accept locally", |s| s.world.accept_with(&s.invited.invite, None).map(drop)),
    ("count a failure", |s| {
        let credential_id = s.ada.credential.clone();
        s.world.send(CountFailure { credential_id }).map(drop)
    }),
    ("sign in", |s| s.world.sign_in(&s.ada, 2).map(drop)),
    ("verify", |s| s.world.verify(&s.ada.session, &s.ada, 2)),
    ("use", |s| s.world.session_in_use(&s.ada.session, SessionUse::Action).map(drop)),
    ("sign out", |s| {
        let session = s.ada.session.clone();
        s.world.send(SignOut { session }).map(drop)
    }),
    ("end a session", |s| {
        let session_id = s.world.session(&s.ada.session)?.session_id;
        let member = s.ada.id;
        s.world.send(EndSession { member, session_id }).map(drop)
    }),
    ("change a role", |s| s.world.change(Actor::Operator, s.bob.id, Some(Role::Owner))),
    ("remove", |s| s.world.change(Actor::Operator, s.bob.id, None)),
    ("withdraw", |s| {
        let invite_id = s.invited.invite_id.clone();
        let by = Actor::Operator;
        s.world.send(WithdrawInvite { by, invite_id }).map(drop)
    }),
    ("suspend", |s| {
        let suspend = Suspend {
            is_suspended: true,
            revision: 1,
            publisher: domain::model::PublisherId::parse("lumen-arcade").unwrap(),
        };
        s.world.send(suspend).map(drop)
    }),
    ("announce", |s| {
        let announce = Announce {
            by: Actor::Member(s.ada.id),
            change: AnnouncedChange::CreateReportKey { label: "x".into(), scope: Scope::Reporting },
        };
        s.world.send(announce).map(drop)
    }),
];

#[test]
fn each_command_is_carried_out_as_a_whole_or_not_at_all() {
    for (name, act) in ACTS {
        let (before, after, writes) = {
            let setup = setup();
            let before = setup.world.dump();
            setup.world.db.inject(Faults::none());
            act(&setup).unwrap();
            (before, setup.world.dump(), setup.world.db.writes())
        };
        assert!(writes > 0 && before != after, "{name}");
        for nth in 1..=writes {
            for fault in [Fault::Before, Fault::After] {
                let setup = setup();
                assert_eq!(setup.world.dump(), before);
                setup.world.db.inject(Faults::at(nth, fault));
                assert!(matches!(act(&setup), Err(Failure::Internal(_))), "{name} {nth} {fault:?}");
                setup.world.db.inject(Faults::none());
                let is_done = nth == writes && fault == Fault::After;
                let expected = if is_done { &after } else { &before };
                assert_eq!(&setup.world.dump(), expected, "{name}: write {nth} broken: {fault:?}");
            }
        }
    }
}

#[test]
fn a_client_that_tries_again_joins_once() {
    for nth in 1.. {
        for fault in [Fault::Before, Fault::After] {
            let setup = setup();
            setup.world.db.inject(Faults::at(nth, fault));
            let first = setup.world.accept(&setup.invited.invite);
            if first.is_ok() {
                assert!(nth > 3);
                return;
            }
            let second = setup.world.accept(&setup.invited.invite);
            let members = setup.world.roles().into_iter().filter(|(name, _)| name == "Cleo");
            assert_eq!(members.count(), 1, "write {nth} broken: {fault:?}");
            // After the commit, only the answer was lost: the passkey is stored, and a sign-in follows.
            if let Err(refused) = second {
                assert_eq!(refusal::<()>(Err(refused)), (404, "unknown_invite"));
            }
        }
    }
}

#[test]
fn a_sweep_that_fails_is_repeated() {
    for nth in 1..=5 {
        for fault in [Fault::Before, Fault::After] {
            let setup = setup();
            let later = setup.world.now_ms.get() + 8 * DAY_MS;
            setup.world.db.inject(Faults::at(nth, fault));
            assert!(origin::objects::accounts::alarm(&setup.world.db, later).is_err());
            origin::objects::accounts::alarm(&setup.world.db, later).unwrap();
            for table in ["sessions", "challenges", "invites"] {
                assert!(crate::dump(&setup.world.db, table).is_empty(), "{table}");
            }
        }
    }
}
