//! Suspension ends all sessions and lets nobody in until the account is admitted again.

use super::*;

const SUSPENDED: (u16, &str) = (403, "account_suspended");

#[test]
fn a_suspended_account_lets_nobody_in() {
    let world = World::new();
    let (ada, bob) = (world.join("Ada", Role::Owner), world.join("Bob", Role::Analyst));
    let invited = world.invite(Actor::Member(ada.id), "Cleo", Role::Analyst).unwrap();
    let recovery = world.recover(Actor::Member(ada.id), bob.id).unwrap();
    world.suspend(true);
    assert!(!world.is_live(&ada.session));
    assert_eq!(refusal(world.session(&ada.session)), SUSPENDED);
    assert_eq!(refusal(world.verify(&ada.session, &ada, 2)), SUSPENDED);
    assert_eq!(refusal(world.sign_in(&ada, 2)), SUSPENDED);
    for invite in [&invited.invite, &recovery.invite] {
        assert_eq!(refusal(world.read_invite(invite)), SUSPENDED);
        assert_eq!(refusal(world.accept(invite)), SUSPENDED);
        assert_eq!(refusal(world.accept_with(invite, None)), SUSPENDED);
    }
    // Somebody without a passkey or an invite of the account does not learn of the suspension.
    let unknown = ReadPasskey { credential_id: contract::operation::Bytes(vec![9; 16]) };
    assert_eq!(refusal(world.send(unknown)), (401, "passkey_refused"));
    assert_eq!(refusal(world.sign_in(&ada, 1)), (401, "passkey_refused"));
    assert_eq!(refusal(world.read_invite("inv_p_lumen-arcade_0_0")), (404, "unknown_invite"));

    world.suspend(false);
    assert_eq!(refusal(world.session(&ada.session)), (401, "not_signed_in"), "what has ended stays ended");
    let session = world.sign_in(&ada, 2).unwrap();
    assert!(world.is_live(&session));
    world.accept(&invited.invite).unwrap();
    world.accept(&recovery.invite).unwrap();
}

#[test]
fn suspension_may_be_repeated_and_an_older_one_changes_nothing() {
    let world = World::new();
    world.join("Ada", Role::Owner);
    let send = |is_suspended, revision| {
        let suspend =
            Suspend { is_suspended, revision, publisher: domain::model::PublisherId::parse("lumen-arcade").unwrap() };
        world.send(suspend).unwrap();
        world.pass(1);
    };
    send(true, 5);
    // The suspension that followed an admission arrives before it.
    send(true, 7);
    let before = world.dump();
    for (is_suspended, revision) in [(true, 7), (false, 6), (false, 7), (true, 5)] {
        send(is_suspended, revision);
        assert_eq!(world.dump(), before, "{revision}");
    }
    send(false, 8);
    let actions: Vec<_> = world.audit().into_iter().map(|[_, action, ..]| action).skip(2).collect();
    assert_eq!(actions, ["account_suspended", "account_admitted"]);
}

#[test]
fn an_account_is_suspended_before_anybody_is_invited() {
    let world = World::new();
    world.suspend(true);
    let invited = world.invite(Actor::Operator, "Ada", Role::Owner).unwrap();
    assert_eq!(refusal(world.read_invite(&invited.invite)), SUSPENDED);
    world.suspend(false);
    world.accept(&invited.invite).unwrap();
}
