//! Members: roles, removal, the last owner, and who may change them.

use super::*;
use domain::accounts::account::Account;

#[test]
fn a_role_changes_at_once() {
    let world = World::new();
    let (ada, bob) = (world.join("Ada", Role::Owner), world.join("Bob", Role::Analyst));
    world.change(Actor::Member(ada.id), bob.id, Some(Role::Owner)).unwrap();
    assert_eq!(world.roles(), [("Ada".into(), Role::Owner), ("Bob".into(), Role::Owner)]);
    let before = world.dump();
    world.change(Actor::Member(ada.id), bob.id, Some(Role::Owner)).unwrap();
    assert_eq!(world.dump(), before, "the same role is no change");
    assert_eq!(refusal(world.change(Actor::Operator, bob.id, Some(Role::Admin))), (400, "invalid_field"));
    let nobody = MemberId([9; 8]);
    for role in [None, Some(Role::Owner)] {
        assert_eq!(refusal(world.change(Actor::Operator, nobody, role)), (404, "not_found"));
    }
}

#[test]
fn the_last_owner_neither_leaves_nor_takes_another_role() {
    for (account, highest, other) in
        [(World::new().account, Role::Owner, Role::Developer), (Account::Operator, Role::Admin, Role::Support)]
    {
        let world = World::of(account);
        let (ada, bob) = (world.join("Ada", highest), world.join("Bob", other));
        for by in [Actor::Member(ada.id), Actor::Operator] {
            for role in [None, Some(other)] {
                assert_eq!(refusal(world.change(by.clone(), ada.id, role)), (409, "last_owner"));
            }
        }
        world.change(Actor::Member(ada.id), bob.id, Some(highest)).unwrap();
        world.change(Actor::Member(ada.id), ada.id, Some(other)).unwrap();
        assert_eq!(refusal(world.change(Actor::Operator, bob.id, None)), (409, "last_owner"));
        world.change(Actor::Operator, ada.id, None).unwrap();
        assert_eq!(world.roles(), [("Bob".into(), highest)]);
    }
}

#[test]
fn a_removed_member_is_locked_out_at_once() {
    let world = World::new();
    let (ada, bob) = (world.join("Ada", Role::Owner), world.join("Bob", Role::Owner));
    let second = world.sign_in(&bob, 2).unwrap();
    world.change(Actor::Member(ada.id), bob.id, None).unwrap();
    assert!(!world.is_live(&bob.session) && !world.is_live(&second) && world.is_live(&ada.session));
    assert_eq!(refusal(world.sign_in(&bob, 3)), (401, "passkey_refused"));
    assert_eq!(refusal(world.change(Actor::Operator, bob.id, None)), (404, "not_found"));
    // A call of a session that was read just before the removal.
    let by = || Actor::Member(bob.id);
    assert_eq!(refusal(world.invite(by(), "Eve", Role::Owner)), (401, "not_signed_in"));
    assert_eq!(refusal(world.recover(by(), ada.id)), (401, "not_signed_in"));
    assert_eq!(refusal(world.change(by(), ada.id, None)), (401, "not_signed_in"));
}

#[test]
fn only_the_highest_role_manages_members() {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    let open = world.invite(Actor::Operator, "Dan", Role::Analyst).unwrap();
    for role in [Role::Developer, Role::Analyst] {
        let by = Actor::Member(world.join("Bob", role).id);
        let before = world.dump();
        assert_eq!(refusal(world.invite(by.clone(), "Eve", Role::Owner)), (403, "role_forbids"));
        assert_eq!(refusal(world.recover(by.clone(), ada.id)), (403, "role_forbids"));
        assert_eq!(refusal(world.change(by.clone(), ada.id, None)), (403, "role_forbids"));
        let withdraw = WithdrawInvite { by, invite_id: open.invite_id.clone() };
        assert_eq!(refusal(world.send(withdraw)), (403, "role_forbids"));
        assert_eq!(world.dump(), before);
    }
}
