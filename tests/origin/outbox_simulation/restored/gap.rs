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
    // A lost payment is taken back, for the publisher and for the sums, and is not made again.
    for (status, duplicate) in [(Status::Reversed, false), (Status::Approved, true)] {
        let answer = world.convert(2, status).unwrap();
        assert_eq!((answer.status, answer.duplicate), (Status::Reversed, duplicate), "{answer:?}");
    }
    world.settle();
    let sql = "SELECT COUNT(*) FROM entries r JOIN entries w ON w.nonce = zeroblob(12)
        WHERE r.after IS NOT NULL AND r.delivery = 1 AND r.payout_micro_usd = -w.payout_micro_usd";
    assert_eq!(world.own.env.db.query_integer(sql, &[]), Ok(Some(1)));
    for reason in ["after_restore", "paid_unknowing"] {
        assert!(world.told.iter().any(|told| told.contains(reason)), "{reason}");
    }
}
