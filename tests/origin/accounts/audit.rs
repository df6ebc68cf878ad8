//! The audit: the entries of each change, its pages, and its recoveries.

use super::*;
use domain::reporting::keys::Scope;
use origin::objects::accounts::audit;

fn row(texts: [&str; 4]) -> [String; 4] {
    texts.map(str::to_owned)
}

#[test]
fn each_change_is_recorded_with_the_names_at_that_time() {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    let by = || Actor::Member(ada.id);
    let invited = world.invite(by(), "Bob", Role::Analyst).unwrap();
    let bob = world.accept(&invited.invite).unwrap();
    world.change(by(), bob.id, Some(Role::Developer)).unwrap();
    let unwanted = world.invite(by(), "Eve", Role::Owner).unwrap();
    let withdraw = WithdrawInvite { by: by(), invite_id: unwanted.invite_id };
    world.send(withdraw).unwrap();
    world.sign_in(&bob, 2).unwrap();
    let session_id = world.session(&bob.session).unwrap().session_id;
    let end = EndSession { member: bob.id, session_id: session_id.clone() };
    world.send(end).unwrap();
    let recovery = world.recover(by(), bob.id).unwrap();
    let back = world.accept(&recovery.invite).unwrap();
    world.send(SignOut { session: back.session }).unwrap();
    world.change(Actor::Operator, bob.id, None).unwrap();
    world.suspend(true);
    world.suspend(false);
    let expected = [
        ["the operator", "member_invited", "Ada", "owner"],
        ["Ada", "member_joined", "-", "owner"],
        ["Ada", "member_invited", "Bob", "analyst"],
        ["Bob", "member_joined", "-", "analyst"],
        ["Ada", "role_changed", "Bob", "analyst to developer"],
        ["Ada", "member_invited", "Eve", "owner"],
        ["Ada", "invite_withdrawn", "Eve", "owner"],
        ["Bob", "signed_in", "-", "-"],
        ["Bob", "session_ended", &session_id, "-"],
        ["Ada", "recovery_issued", "Bob", "-"],
        ["Bob", "member_recovered", "-", "developer"],
        ["Bob", "signed_out", "-", "-"],
        ["the operator", "member_removed", "Bob", "developer"],
        ["the operator", "account_suspended", "-", "-"],
        ["the operator", "account_admitted", "-", "-"],
    ];
    assert_eq!(world.audit(), expected.map(row));
}

#[test]
fn two_members_of_one_name_are_told_apart_by_their_ids() {
    let world = World::new();
    let [ada, namesake] = ["Ada"; 2].map(|name| world.join(name, Role::Owner));
    world.sign_in(&namesake, 2).unwrap();
    world.change(Actor::Member(ada.id), namesake.id, Some(Role::Analyst)).unwrap();
    let unwanted = world.invite(Actor::Member(ada.id), "Ada", Role::Owner).unwrap();
    let invitee = world.read_invite(&unwanted.invite).unwrap().member;
    let withdraw = WithdrawInvite { by: Actor::Operator, invite_id: unwanted.invite_id };
    world.send(withdraw).unwrap();
    let session_id = world.session(&ada.session).unwrap().session_id;
    let end = EndSession { member: ada.id, session_id };
    world.send(end).unwrap();
    world.change(Actor::Member(ada.id), namesake.id, None).unwrap();
    let (ada, namesake, invitee) = (Some(ada.id), Some(namesake.id), Some(invitee));
    let expected = [
        ("member_invited", None, ada),
        ("member_joined", ada, None),
        ("member_invited", None, namesake),
        ("member_joined", namesake, None),
        ("signed_in", namesake, None),
        ("role_changed", ada, namesake),
        ("member_invited", ada, invitee),
        ("invite_withdrawn", None, invitee),
        ("session_ended", ada, None),
        ("member_removed", ada, namesake),
    ];
    let read = ReadAudit { limit: 200, before: None };
    let entries = world.send(read).unwrap().entries.into_iter().rev();
    let found: Vec<_> = entries.map(|entry| (entry.action, entry.actor, entry.subject_member)).collect();
    assert_eq!(found, expected.map(|(action, actor, subject)| (action.to_owned(), actor, subject)));
}

#[test]
fn refused_changes_are_not_recorded() {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    let before = world.audit();
    world.change(Actor::Operator, ada.id, None).unwrap_err();
    world.sign_in(&ada, 1).unwrap_err();
    world.verify(&ada.session, &ada, 1).unwrap_err();
    world.invite(Actor::Operator, "", Role::Owner).unwrap_err();
    assert_eq!(world.audit(), before);
}

fn announce(world: &World, by: Actor, change: AnnouncedChange) -> i64 {
    world.send(Announce { by, change }).unwrap().entry
}

#[test]
fn a_change_in_another_object_is_announced_for_every_actor_and_then_confirmed() {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    let label = "x".repeat(audit::MAX_TEXT + 1);
    let create = || AnnouncedChange::CreateReportKey { label: label.clone(), scope: Scope::Reporting };
    let created = announce(&world, Actor::Member(ada.id), create());
    let key_id = "k-1".to_owned();
    announce(&world, Actor::Member(MemberId([9; 8])), AnnouncedChange::RevokeReportKey { key_id });
    announce(&world, Actor::Operator, create());
    let settle = Settle { entry: created, is_done: true, subject: Some("k-1".into()), detail: None };
    world.send(settle).unwrap();
    let detail = "x".repeat(audit::MAX_TEXT);
    assert_eq!(
        world.audit()[2..],
        [
            row(["Ada", "report_key_created", "k-1", &detail]),
            row(["a former member", "report_key_revoked", "k-1", "-"]),
            row(["the operator", "report_key_created", "-", &detail]),
        ]
    );
    let read = ReadAudit { limit: 3, before: None };
    let unconfirmed = world.send(read).unwrap().entries.into_iter().rev();
    assert_eq!(unconfirmed.map(|entry| entry.is_unconfirmed).collect::<Vec<_>>(), [false, true, true]);
}

#[test]
fn details_of_a_change_may_be_added_once_it_is_made() {
    let world = World::new();
    let operate = AnnouncedChange::Operate { action: "rewards_reversed".into(), subject: "10000001".into() };
    let entry = announce(&world, Actor::Operator, operate);
    let settle =
        Settle { entry, is_done: true, subject: None, detail: Some("3 of 4 with status approved: fraud".into()) };
    world.send(settle).unwrap();
    assert_eq!(
        world.audit().last(),
        Some(&row(["the operator", "rewards_reversed", "10000001", "3 of 4 with status approved: fraud"]))
    );
}

#[test]
fn pages_follow_each_other_from_the_newest_row_on() {
    let world = World::new();
    for n in 0..450 {
        let key_id = format!("step_{n}");
        announce(&world, Actor::Operator, AnnouncedChange::RevokeReportKey { key_id });
        world.pass(1);
    }
    for (limit, sizes) in
        [(200, vec![200, 200, 50]), (1_000, vec![200, 200, 50]), (225, vec![200, 200, 50]), (150, vec![150; 3])]
    {
        let (mut before, mut pages, mut subjects) = (None, vec![], vec![]);
        loop {
            let page = world.send(ReadAudit { limit, before }).unwrap();
            pages.push(page.entries.len());
            subjects.extend(page.entries.into_iter().filter_map(|entry| entry.subject));
            before = page.before;
            if before.is_none() {
                break;
            }
        }
        assert_eq!(pages, sizes, "{limit}");
        assert_eq!(subjects, (0..450).rev().map(|n| format!("step_{n}")).collect::<Vec<_>>());
    }
    let read = |limit, before| world.send(ReadAudit { limit, before }).unwrap();
    assert_eq!(read(0, None).entries.len(), 1);
    for before in [Some(i64::MIN), Some(0), Some(1)] {
        assert_eq!(read(10, before).entries, []);
    }
    assert_eq!(read(10, Some(i64::MAX)).entries.len(), 10);
}
