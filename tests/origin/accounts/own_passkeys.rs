//! A member's further passkeys, and the removal of all but the last.

use super::*;
use contract::operation::Bytes;

pub fn passkeys(world: &World, member: MemberId) -> Vec<PasskeyRow> {
    world.send(ReadPasskeys { member }).unwrap()
}

pub fn add(world: &World, session: &str) -> Result<Bytes, platform::failure::Failure> {
    let passkey = world.new_passkey();
    let credential = passkey.credential_id.clone();
    let add = AddPasskey { session: session.into(), passkey, user_agent: "Safari".repeat(50) };
    world.send(add).map(|_| credential)
}

pub fn remove(world: &World, session: &str, passkey_id: &str) -> Result<(), platform::failure::Failure> {
    let remove = RemovePasskey { session: session.into(), passkey_id: passkey_id.into() };
    world.send(remove).map(drop)
}

#[test]
fn an_added_passkey_signs_in_and_is_listed() {
    let world = World::new();
    let ada = world.join("Ada", Role::Analyst);
    world.pass(MINUTE_MS);
    let credential = add(&world, &ada.session).unwrap();
    let list = passkeys(&world, ada.id);
    assert_eq!((&list[0].credential_id, &list[1].credential_id), (&ada.credential, &credential));
    assert_eq!((list[0].created_at_ms, list[1].created_at_ms), (world::NOW, world::NOW + MINUTE_MS));
    assert_eq!((list[0].user_agent.as_str(), list[1].user_agent.len()), ("Firefox", 200));
    assert_eq!(list[1].transports, ["internal", "hybrid"]);
    assert!(list.iter().all(|passkey| passkey.last_used_at_ms.is_none()));

    let second = Person { credential, ..ada.clone() };
    world.pass(MINUTE_MS);
    let session = world.sign_in(&second, 2).unwrap();
    assert_eq!(world.session(&session).unwrap().member, ada.id);
    world.verify(&ada.session, &ada, 2).unwrap();
    let used = world.now_ms.get();
    let list = passkeys(&world, ada.id);
    assert!(list.iter().all(|passkey| passkey.last_used_at_ms == Some(used)));
    let audit = world.audit();
    let row = audit.iter().find(|[_, action, ..]| action == "passkey_added").unwrap();
    assert_eq!((row[0].as_str(), &row[2]), ("Ada", &list[1].passkey_id));
}

#[test]
fn a_removed_passkey_is_refused_and_the_members_other_sessions_end() {
    let world = World::new();
    let (ada, bob) = (world.join("Ada", Role::Owner), world.join("Bob", Role::Analyst));
    add(&world, &ada.session).unwrap();
    let other = world.sign_in(&ada, 2).unwrap();
    let first = passkeys(&world, ada.id).remove(0);
    remove(&world, &ada.session, &first.passkey_id).unwrap();
    assert!(world.is_live(&ada.session) && !world.is_live(&other) && world.is_live(&bob.session));
    assert_eq!(refusal(world.sign_in(&ada, 3)), (401, "passkey_refused"));
    assert_eq!(passkeys(&world, ada.id).len(), 1);
    let row = world.audit().pop().unwrap();
    assert_eq!(row, ["Ada", "passkey_removed", first.passkey_id.as_str(), "-"]);
}

#[test]
fn the_last_passkey_and_those_of_others_are_not_removed() {
    let world = World::new();
    let (ada, bob) = (world.join("Ada", Role::Owner), world.join("Bob", Role::Analyst));
    add(&world, &bob.session).unwrap();
    let (of_ada, of_bob) = (passkeys(&world, ada.id), passkeys(&world, bob.id));
    let before = world.dump();
    for (session, passkey_id, expected) in [
        (&ada.session, of_ada[0].passkey_id.as_str(), (409, "last_passkey")),
        (&ada.session, of_bob[0].passkey_id.as_str(), (404, "not_found")),
        (&ada.session, "0123456789abcdef", (404, "not_found")),
        (&"s_p_x".to_owned(), of_ada[0].passkey_id.as_str(), (401, "not_signed_in")),
    ] {
        assert_eq!(refusal(remove(&world, session, passkey_id)), expected);
    }
    assert_eq!(world.dump(), before);
}

#[test]
fn a_passkey_is_added_once_by_a_live_session() {
    let world = World::new();
    let (ada, bob) = (world.join("Ada", Role::Owner), world.join("Bob", Role::Analyst));
    let passkey = world.new_passkey();
    let send = |session: &str, passkey: &NewPasskey| {
        world.send(AddPasskey { session: session.into(), passkey: passkey.clone(), user_agent: String::new() })
    };
    send(&ada.session, &passkey).unwrap();
    let before = world.dump();
    // The same challenge, and the same credential with another one.
    assert_eq!(refusal(send(&ada.session, &passkey)), (401, "passkey_refused"));
    let again = NewPasskey { challenge: world.challenge(), ..passkey };
    assert_eq!(refusal(send(&bob.session, &again)), (401, "passkey_refused"));
    assert_eq!(world.dump(), before);
    world.pass(12 * HOUR_MS);
    assert_eq!(refusal(add(&world, &bob.session)), (401, "not_signed_in"));
}
