//! A restored outbox vouches for a day only once it has its log back.

use super::*;

/// The night comes before the witness answers.
#[test]
fn a_restored_outbox_vouches_only_once_it_has_its_log_back() {
    for is_ledger_up in [true, false] {
        vouch_after_a_restore(is_ledger_up);
    }
}

/// The ledger may be silent, too, when the process starts.
fn vouch_after_a_restore(is_ledger_up: bool) {
    let mut world = World::new(8);
    world.convert(0, Status::Approved).unwrap();
    world.settle();
    world.carry_out(&Op::Copy);
    world.convert(2, Status::Approved).unwrap();
    world.settle();
    world.restore();
    world.pass(DAY_MS);
    let count = |db: &Sqlite, of: &str| {
        let sql = format!("SELECT COUNT(*) FROM {of}");
        db.query_integer(&sql, &[]).unwrap()
    };
    world.is_ledger_up = is_ledger_up;
    for is_up in [false, true] {
        world.carry_out(&Op::Up(is_up, true));
        world.wake();
        world.is_ledger_up = true;
        (0..20).for_each(|_| world.wake());
        assert_eq!(count(&world.ledger, "totals WHERE differs > 0"), Some(0));
        assert_eq!(count(&world.own.env.db, "nights WHERE vouched > 0"), Some(is_up.into()));
    }
    assert!(!world.told.iter().any(|told| told.contains("after_restore")), "{:?}", world.told);
    world.check();
}
