//! Suspension ends all sessions and lets nobody in until the account is admitted again.

use super::*;

#[test]
fn a_suspended_account_lets_nobody_in() {
    let world = World::new();
    let (ada, bob) = (world.join("Ada", Role::Owner), world.join("Bob", Role::Analyst));
    let invited = world
        .invite(Actor::Member(ada.id), "Cleo", Role::Analyst)
        .unwrap();
    let recovery = world.recover(Actor::Member(ada.id), bob.id).unwrap();
    world.suspend(true);
    assert!(!world.is_live(&ada.session));
    assert_eq!(
        refusal(world.verify(&ada.session, &ada, 2)),
        (401, "not_signed_in")
    );
    assert_eq!(refusal(world.sign_in(&ada, 2)), (401, "passkey_refused"));
    let read = ReadPasskey {
        credential_id: ada.credential.clone(),
    };
    assert_eq!(refusal(world.send(read.clone())), (401, "passkey_refused"));
    for invite in [&invited.invite, &recovery.invite] {
        assert_eq!(refusal(world.read_invite(invite)), (404, "unknown_invite"));
        assert_eq!(refusal(world.accept(invite)), (404, "unknown_invite"));
        assert_eq!(refusal(world.accept_with(invite, None)), (404, "unknown_invite"));
    }

    world.suspend(false);
    assert!(!world.is_live(&ada.session), "what has ended stays ended");
    assert!(world.send(read).is_ok());
    let session = world.sign_in(&ada, 2).unwrap();
    assert!(world.is_live(&session));
    world.accept(&invited.invite).unwrap();
    world.accept(&recovery.invite).unwrap();
}

#[test]
fn suspension_may_be_repeated() {
    let world = World::new();
    world.join("Ada", Role::Owner);
    for is_suspended in [true, false] {
        world.suspend(is_suspended);
        let before = world.dump();
        world.pass(1);
        world.suspend(is_suspended);
        assert_eq!(world.dump(), before);
    }
}

#[test]
fn an_account_is_suspended_before_anybody_is_invited() {
    let world = World::new();
    world.suspend(false);
    assert!(world.dump().iter().all(|(_, rows)| rows.is_empty()));
    world.suspend(true);
    let invited = world.invite(Actor::Operator, "Ada", Role::Owner).unwrap();
    assert_eq!(
        refusal(world.read_invite(&invited.invite)),
        (404, "unknown_invite")
    );
    world.suspend(false);
    world.accept(&invited.invite).unwrap();
}
