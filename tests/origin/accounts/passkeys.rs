//! Passkeys: sign-in, verification, spent challenges and the sign counter.

use super::*;
use contract::operation::Bytes;
use domain::accounts::webauthn::Algorithm;

#[test]
fn a_passkey_signs_in_again_and_again() {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    let read = |id: &Bytes| world.send(ReadPasskey { credential_id: id.clone() });
    let stored = read(&ada.credential).unwrap();
    assert_eq!(
        stored,
        Passkey {
            member: ada.id,
            algorithm: Algorithm::Es256.cose(),
            spki: Bytes(vec![0x30; 91]),
            sign_count: 1,
            is_backup_eligible: true,
        }
    );
    let second = world.sign_in(&ada, 2).unwrap();
    let third = world.sign_in(&ada, 7).unwrap();
    assert!([&ada.session, &second, &third].iter().all(|session| world.is_live(session)));
    assert_eq!(read(&ada.credential).unwrap().sign_count, 7);
    let session = world.session(&third).unwrap();
    assert!(session.is_verified(world.now_ms.get()));
    assert_eq!(refusal(read(&Bytes(vec![9; 16]))), (401, "passkey_refused"));
}

#[test]
fn a_challenge_is_spent_once() {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    let challenge = world.challenge();
    let sign_in = |sign_count| {
        world.send(SignIn { passkey: ada.passkey_use(sign_count, challenge.clone()), user_agent: String::new() })
    };
    sign_in(2).unwrap();
    let before = world.dump();
    assert_eq!(refusal(sign_in(3)), (401, "passkey_refused"));
    let verify = Verify { session: ada.session.clone(), passkey: ada.passkey_use(3, challenge.clone()) };
    assert_eq!(refusal(world.send(verify)), (401, "passkey_refused"));
    let invited = world.invite(Actor::Operator, "Bob", Role::Analyst).unwrap();
    let mut passkey = world.new_passkey();
    passkey.challenge = challenge.clone();
    assert_eq!(refusal(world.accept_with(&invited.invite, Some(passkey))), (401, "passkey_refused"));
    assert_eq!(&world.dump()[3..6], &before[3..6]);
    // The sweep forgets it only once its expiry refuses it.
    world.pass(5 * MINUTE_MS);
    origin::objects::accounts::alarm(&world.db, world.now_ms.get()).unwrap();
    assert!(crate::dump(&world.db, "challenges").is_empty());
    assert_eq!(refusal(sign_in(3)), (401, "passkey_refused"));
}

#[test]
fn an_expired_challenge_is_refused() {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    let challenge = world.challenge();
    world.pass(5 * MINUTE_MS);
    let sign_in = SignIn { passkey: ada.passkey_use(2, challenge), user_agent: String::new() };
    assert_eq!(refusal(world.send(sign_in)), (401, "passkey_refused"));
}

#[test]
fn of_two_sign_ins_with_one_counter_the_second_is_refused() {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    world.sign_in(&ada, 2).unwrap();
    for count in [2, 1, 0] {
        assert_eq!(refusal(world.sign_in(&ada, count)), (401, "passkey_refused"), "{count}");
        assert_eq!(refusal(world.verify(&ada.session, &ada, count)), (401, "passkey_refused"), "{count}");
    }
    world.sign_in(&ada, u32::MAX).unwrap();
}

#[test]
fn a_passkey_that_does_not_count_signs_in() {
    let world = World::new();
    let invited = world.invite(Actor::Operator, "Ada", Role::Owner).unwrap();
    let mut passkey = world.new_passkey();
    passkey.sign_count = 0;
    let credential = passkey.credential_id.clone();
    let signed_in = world.accept_with(&invited.invite, Some(passkey)).unwrap();
    let ada = Person { id: signed_in.member, credential, session: signed_in.session };
    for _ in 0..2 {
        world.sign_in(&ada, 0).unwrap();
    }
}

#[test]
fn a_passkey_verifies_a_session_of_its_own_member_for_5_minutes() {
    let world = World::new();
    let (ada, bob) = (world.join("Ada", Role::Owner), world.join("Bob", Role::Analyst));
    let is_verified = || {
        let session = world.session(&ada.session).unwrap();
        session.is_verified(world.now_ms.get())
    };
    world.pass(5 * MINUTE_MS);
    assert!(!is_verified());
    assert_eq!(refusal(world.verify(&ada.session, &bob, 2)), (401, "passkey_refused"));
    assert_eq!(refusal(world.verify("s_p_x", &ada, 2)), (401, "not_signed_in"));
    assert!(!is_verified());
    world.verify(&ada.session, &ada, 2).unwrap();
    let session = world.session(&ada.session).unwrap();
    assert!(is_verified());
    assert_eq!(session.times.last_seen_at_ms, world.now_ms.get(), "it is a use as well");
    assert_eq!(session.times.created_at_ms, world::NOW);
    world.pass(5 * MINUTE_MS);
    assert!(!is_verified());
    world.pass(12 * HOUR_MS);
    assert_eq!(refusal(world.verify(&ada.session, &ada, 3)), (401, "not_signed_in"));
}

#[test]
fn the_state_of_the_backup_follows_the_passkey() {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    let is_backed_up = || crate::dump(&world.db, "passkeys")[0].boolean(7).unwrap();
    assert!(!is_backed_up());
    world.sign_in(&ada, 2).unwrap();
    assert!(is_backed_up());
    world.verify(&ada.session, &ada, 3).unwrap();
    assert!(!is_backed_up());
}
