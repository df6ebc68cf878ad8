//! Payments that the ledger has, and neither the outbox nor its journal.

use super::*;

/// The ledger does not answer when the process starts, so the answer to the first batch shows the loss. A payment that
/// was made since then must not hide it.
#[test]
fn the_first_batch_to_the_ledger_shows_which_payments_are_lost() {
    let mut world = World::new(1);
    world.convert(0, Status::Approved).unwrap();
    world.settle();
    world.carry_out(&Op::Copy);
    world.is_witness_up = false;
    world.convert(2, Status::Approved).unwrap();
    let reported = |world: &World| {
        let sql = "SELECT COUNT(*) FROM segments";
        world.ledger.query_integer(sql, &[]).unwrap()
    };
    let before = reported(&world);
    while reported(&world) == before {
        world.wake();
    }
    world.restore();
    (world.is_witness_up, world.is_ledger_up) = (true, false);
    world.convert(NEW_CLICK, Status::Approved).unwrap();
    world.is_ledger_up = true;
    world.settle();
    let answer = world.convert(4, Status::Approved).unwrap();
    assert_eq!(answer.status, Status::Pending, "{answer:?}");
    for reason in ["after_restore", "paid_unknowing"] {
        assert!(world.told.iter().any(|told| told.contains(reason)), "{reason}");
    }
}
