//! An account's limits.

use super::{
    own_passkeys::{add, passkeys, remove},
    *,
};
use domain::accounts::session::SessionUse;

#[test]
fn an_account_has_at_most_100_members() {
    let world = World::new();
    for _ in 0..99 {
        world.join("Ada", Role::Owner);
    }
    let open = [(); 2].map(|()| world.invite(Actor::Operator, "Bob", Role::Owner).unwrap());
    let bob = world.accept(&open[0].invite).unwrap();
    assert_eq!(refusal(world.accept(&open[1].invite)), (409, "too_many_members"));
    assert_eq!(refusal(world.invite(Actor::Operator, "Cleo", Role::Owner)), (409, "too_many_members"));
    // A recovery adds no member.
    let recovery = world.recover(Actor::Operator, bob.id).unwrap();
    world.accept(&recovery.invite).unwrap();
    world.change(Actor::Operator, bob.id, None).unwrap();
    world.accept(&open[1].invite).unwrap();
}

#[test]
fn an_account_has_at_most_100_open_invites() {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    let invite = || world.invite(Actor::Operator, "Bob", Role::Analyst);
    let first = invite().unwrap();
    for _ in 1..100 {
        invite().unwrap();
    }
    assert_eq!(refusal(invite()), (409, "too_many_invites"));
    world.recover(Actor::Operator, ada.id).unwrap();
    let withdraw = WithdrawInvite { by: Actor::Operator, invite_id: first.invite_id };
    world.send(withdraw).unwrap();
    invite().unwrap();
    assert_eq!(refusal(invite()), (409, "too_many_invites"));
    world.pass(7 * DAY_MS);
    invite().unwrap();
}

#[test]
fn a_member_has_at_most_50_sessions_and_the_oldest_ends() {
    let world = World::new();
    let (ada, bob) = (world.join("Ada", Role::Owner), world.join("Bob", Role::Owner));
    let mut sessions = vec![ada.session.clone()];
    for count in 2..=50 {
        world.pass(1);
        sessions.push(world.sign_in(&ada, count).unwrap());
    }
    assert!(sessions.iter().all(|session| world.is_live(session)));
    world.pass(1);
    let further = world.sign_in(&ada, 51).unwrap();
    assert!(!world.is_live(&sessions[0]) && world.is_live(&sessions[1]) && world.is_live(&further));
    assert!(world.is_live(&bob.session), "another member has room of its own");

    // Sessions that have ended take no room.
    let kept = &sessions[1];
    world.pass(6 * HOUR_MS);
    world.session_in_use(kept, SessionUse::Action).unwrap();
    world.pass(6 * HOUR_MS);
    for count in 52..=100 {
        world.pass(1);
        world.sign_in(&ada, count).unwrap();
    }
    assert!(world.is_live(kept));
    world.pass(1);
    world.sign_in(&ada, 101).unwrap();
    assert!(!world.is_live(kept));
}

#[test]
fn a_member_has_at_most_20_passkeys() {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    for _ in 1..20 {
        add(&world, &ada.session).unwrap();
    }
    assert_eq!(refusal(add(&world, &ada.session)), (409, "too_many_passkeys"));
    let first = passkeys(&world, ada.id).remove(0);
    remove(&world, &ada.session, &first.passkey_id).unwrap();
    add(&world, &ada.session).unwrap();
}
