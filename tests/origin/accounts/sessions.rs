//! Sessions: how long they live, and what ends them.

use super::*;
use domain::accounts::session::SessionUse;

#[test]
fn a_session_ends_12_hours_after_its_last_action() {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    world.pass(11 * HOUR_MS);
    world.session_in_use(&ada.session, SessionUse::Action).unwrap();
    world.pass(12 * HOUR_MS - 1);
    assert!(world.is_live(&ada.session));
    world.pass(1);
    assert!(!world.is_live(&ada.session));
}

#[test]
fn a_poll_does_not_extend_a_session() {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    let before = world.dump();
    for _ in 0..11 {
        world.pass(HOUR_MS);
        assert!(world.is_live(&ada.session));
    }
    assert_eq!(world.dump(), before);
    world.pass(HOUR_MS);
    assert!(!world.is_live(&ada.session));
}

#[test]
fn a_session_ends_7_days_after_it_began() {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    for _ in 0..7 * 24 - 1 {
        world.pass(HOUR_MS);
        world.session_in_use(&ada.session, SessionUse::Action).unwrap();
    }
    world.pass(HOUR_MS - 1);
    assert!(world.is_live(&ada.session));
    world.pass(1);
    assert!(!world.is_live(&ada.session));
}

#[test]
fn the_last_use_is_written_at_most_every_10_minutes() {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    let before = world.dump();
    world.pass(10 * MINUTE_MS - 1);
    world.session_in_use(&ada.session, SessionUse::Action).unwrap();
    assert_eq!(world.dump(), before);
    world.pass(1);
    let session = world.session_in_use(&ada.session, SessionUse::Action).unwrap();
    let now_ms = world.now_ms.get();
    assert_eq!(session.times.last_seen_at_ms, now_ms);
    assert_eq!(world.session(&ada.session).unwrap(), session);
    assert_eq!(world.members().members[0].last_seen_at_ms, Some(now_ms));
}

#[test]
fn a_session_ends_with_its_sign_out_which_may_be_repeated() {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    let other = world.sign_in(&ada, 2).unwrap();
    let sign_out = || world.send(SignOut { session: ada.session.clone() });
    sign_out().unwrap();
    assert!(!world.is_live(&ada.session) && world.is_live(&other));
    let before = world.dump();
    sign_out().unwrap();
    world.send(SignOut { session: "s_p".into() }).unwrap();
    assert_eq!(world.dump(), before);
}

#[test]
fn a_session_has_its_members_current_role() {
    let world = World::new();
    let (ada, bob) = (world.join("Ada", Role::Owner), world.join("Bob", Role::Analyst));
    world.change(Actor::Member(ada.id), bob.id, Some(Role::Developer)).unwrap();
    let session = world.session(&bob.session).unwrap();
    assert_eq!((session.member, session.name.as_str(), session.role), (bob.id, "Bob", Role::Developer));
    assert!(!world.is_live("s_p_lumen-arcade_no_such"));
}

#[test]
fn a_member_lists_its_live_sessions_and_ends_one() {
    let world = World::new();
    let (ada, bob) = (world.join("Ada", Role::Owner), world.join("Bob", Role::Analyst));
    world.pass(MINUTE_MS);
    let second = world.sign_in(&ada, 2).unwrap();
    let list = |member| world.send(ReadSessions { member }).unwrap();
    let listed = list(ada.id);
    let ids = [&second, &ada.session].map(|session| world.session(session).unwrap().session_id);
    assert_eq!(listed.iter().map(|row| &row.session_id).collect::<Vec<_>>(), ids.iter().collect::<Vec<_>>());
    assert_eq!(listed[1].user_agent, "Firefox");
    assert_eq!(listed[1].times, world.session(&ada.session).unwrap().times);

    let end = |member, session_id: &str| world.send(EndSession { member, session_id: session_id.into() });
    assert_eq!(refusal(end(bob.id, &ids[0])), (404, "not_found"), "it is another's");
    end(ada.id, &ids[0]).unwrap();
    assert!(!world.is_live(&second) && world.is_live(&ada.session));
    assert_eq!(refusal(end(ada.id, &ids[0])), (404, "not_found"));
    world.pass(12 * HOUR_MS);
    assert!(list(ada.id).is_empty());
    assert_eq!(refusal(end(ada.id, &ids[1])), (404, "not_found"), "it has ended");
}

#[test]
fn a_browsers_name_is_cut() {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    let sign_in = SignIn { passkey: ada.passkey_use(2, world.challenge()), user_agent: "é".repeat(500) };
    world.send(sign_in).unwrap();
    let mut agents: Vec<_> = world.send(ReadSessions { member: ada.id }).unwrap();
    agents.sort_by_key(|row| row.user_agent.len());
    assert_eq!(agents[1].user_agent, "é".repeat(200));
}
