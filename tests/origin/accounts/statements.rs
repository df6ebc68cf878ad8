//! An account runs every statement that it lists, and no other.

use super::{
    own_passkeys::{add, passkeys, remove},
    *,
};
use crate::assert_only_listed_statements;
use domain::accounts::session::SessionUse;

#[test]
fn an_account_runs_exactly_its_listed_statements() {
    let world = World::new();
    let (ada, bob) = (world.join("Ada", Role::Owner), world.join("Bob", Role::Analyst));
    world.change(Actor::Operator, bob.id, Some(Role::Owner)).unwrap();
    world.recover(Actor::Operator, bob.id).unwrap();
    world.change(Actor::Operator, bob.id, None).unwrap();
    let invited = world.invite(Actor::Operator, "Cleo", Role::Analyst).unwrap();
    let withdraw = WithdrawInvite { by: Actor::Operator, invite_id: invited.invite_id };
    world.send(withdraw).unwrap();
    world.pass(HOUR_MS);
    world.session_in_use(&ada.session, SessionUse::Action).unwrap();
    world.verify(&ada.session, &ada, 2).unwrap();
    add(&world, &ada.session).unwrap();
    let first = passkeys(&world, ada.id).remove(0);
    remove(&world, &ada.session, &first.passkey_id).unwrap();
    let session_id = world.session(&ada.session).unwrap().session_id;
    world.send(ReadSessions { member: ada.id }).unwrap();
    let end = EndSession { member: ada.id, session_id };
    world.send(end).unwrap();
    world.invite(Actor::Member(ada.id), "Dan", Role::Analyst).unwrap();
    for is_done in [true, false] {
        let key_id = "k-1".to_owned();
        let announce = Announce { by: Actor::Operator, change: AnnouncedChange::RevokeReportKey { key_id } };
        let settle = Settle { entry: world.send(announce).unwrap().entry, is_done, subject: None, detail: None };
        world.send(settle).unwrap();
    }
    world.members();
    world.audit();
    world.suspend(true);
    origin::objects::accounts::alarm(&world.db, world.now_ms.get()).unwrap();
    // A copy of the account is put back.
    let revoked =
        contract::register::RegisterEntry { number: 1 << 40, at_ms: world.now_ms.get(), entry: "\"sign_in\"".into() };
    world.registers.add(&object_name(world.account.id()), revoked);
    world.members();
    assert_only_listed_statements(
        &world.db,
        &[origin::objects::accounts::sql::ALL, origin::delivery::register::ALL].concat(),
        origin::objects::accounts::MIGRATIONS,
    );
}
