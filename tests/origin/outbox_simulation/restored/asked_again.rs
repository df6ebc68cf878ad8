//! A restored outbox asks again for what may have changed since its copy was made.

use super::*;

#[test]
fn a_cap_that_is_newer_than_the_copy_counts_an_approval_by_the_operator() {
    let mut world = World::new(8);
    world.convert(1, Status::Pending).unwrap();
    world.settle();
    world.carry_out(&Op::Copy);
    world.catalog.cap(OFFERS[1], Some(5));
    world.convert(3, Status::Pending).unwrap();
    world.settle();
    world.restore();
    let settle = Settle {
        transaction_id: world.answers[&1].transaction_id.clone(),
        action: Action::Approve,
        reason: "checked".to_owned(),
        despite: vec![],
    };
    // The outbox knows its settings again, and not the offer's cap.
    world.convert(NEW_CLICK - 1, Status::Approved).unwrap();
    world.is_catalog_up = false;
    let refused = world.command(settle.clone().into());
    assert!(matches!(refused, Err(Failure::Refused(refusal)) if refusal.status == 503));
    world.is_catalog_up = true;
    world.command(settle.into()).unwrap();
    let counters = &world.counters[&counters::object_name(&OfferId::parse(OFFERS[1]).unwrap())];
    assert_eq!(counters.query_integer("SELECT COUNT(*) FROM takes", &[]), Ok(Some(1)));
}

/// The copy is older than the suspension, so the outbox does not notice that it has ended.
#[test]
fn rewards_that_were_held_after_the_copy_are_paid_once_the_suspension_has_ended() {
    let mut world = World::new(8);
    world.convert(0, Status::Approved).unwrap();
    world.settle();
    world.carry_out(&Op::Copy);
    world.suspend(true);
    assert_eq!(world.convert(2, Status::Approved).unwrap().status, Status::Pending);
    world.settle();
    world.suspend(false);
    world.restore();
    world.convert(NEW_CLICK, Status::Approved).unwrap();
    for _ in 0..20 {
        world.wake();
    }
    assert_eq!(world.convert(2, Status::Approved).unwrap().status, Status::Approved);
}

impl World {
    fn suspend(&mut self, is_suspended: bool) {
        let callback = &mut self.catalog.callback;
        callback.revision += 1;
        callback.is_suspended = is_suspended;
        let settings = callback.clone();
        self.catalog.app.callback_revision = settings.revision;
        self.command(settings.into()).unwrap();
    }
}
