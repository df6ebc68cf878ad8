//! An outbox runs every statement that it lists and no other, and no frequent statement scans a growing table.

use super::{
    super::{assert_only_listed_statements, plan},
    *,
};
use contract::outbox::{Disabled, ListDay, ReadDay};
use domain::conversions::table::Action;
use origin::{
    delivery::batches::{self, Log},
    objects::outbox::{
        erasure, gap, next_alarm, retention, sql,
        story::{of_click, read as read_story},
        sums::{self, night},
    },
};

#[test]
fn an_outbox_runs_exactly_its_listed_statements() {
    let (db, world) = (outbox(), World::capped(2));
    world.counters_answer.set(false);
    convert(&db, &world, &conversion(1).txn("t")).unwrap_err();
    erasure::erase(&db, NOW, shard(), &conversion(1).click.user_id).unwrap();
    world.counters_answer.set(true);
    world.pass(15_000);
    now(commit::resume_overdue(&db, &world)).unwrap();
    convert(&db, &world, &conversion(2).status(Status::Pending)).unwrap();
    convert(&db, &world, &conversion(2)).unwrap();
    convert(&db, &world, &conversion(3).txn("u")).unwrap_err();
    world.hold(|_, app| app.max_rewards_per_user_day = Some(1));
    convert(&db, &world, &conversion(1).goal("g-2")).unwrap();
    let of_pending = Events { pending: true, ..Events::NONE };
    world.events.set(of_pending);
    convert(&db, &world, &conversion(4).status(Status::Pending)).unwrap();
    let reject = settlement::settle(&db, &world, &reward_id(4), Action::Reject, &[]);
    assert_eq!(reject, Ok(("rejected", false)));
    settlement::count(&db, "held");
    settlement::settle(&db, &world, &reward_id(3), Action::Approve, &[]).unwrap();
    convert(&db, &world, &conversion(1).status(Status::Reversed)).unwrap();
    let now_ms = world.now_ms.get();
    apply_settings(&db, now_ms, &settings(2, true));
    // The same revision again, as after its settings were sealed with another key.
    apply_settings(&db, now_ms, &settings(2, true));
    let callbacks = claim(&db, now_ms);
    attempts::take_up(&db, now_ms, &[0], (0, 0), DEFAULT_EVENTS).unwrap();
    erasure::erase(&db, NOW, shard(), "user-1").unwrap();
    answer(&db, now_ms, &callbacks[0], 500);
    answer(&db, now_ms, &callbacks[1], 200);
    let txn = Txn {
        advertiser: advertiser("brand"),
        goal: "g-1".into(),
        txn: "t".into(),
        nonce: Bytes(vec![1; 12]),
        number: 1,
    };
    lost_terms::run_every_statement(&db, &world);
    suspended::run_every_statement(&db, &world);
    txns::claim(&db, now_ms, shard(), &txn).unwrap();
    txns::is_free(&db, &txn).unwrap();
    txns::free(&db, &txn).unwrap();
    for state in [None, Some("dead")] {
        page(&db, Some("approved"), state, 10, None);
    }
    let disabled = Disabled { revision: 2, enabled_ms: 0 };
    endpoint::disable(&db, now_ms, disabled).unwrap();
    world.catalog.borrow_mut().set_callback(settings(9, true));
    convert(&db, &world, &conversion(1)).unwrap();
    endpoint::forget_lost_settings(&db, 1).unwrap();
    let today = domain::model::time::UtcDay::of_ms(now_ms);
    let read = ReadDay { day: today, after: 0, mark: 0 };
    day::read(&db, read, day::STEP).unwrap();
    let list_day = ListDay { day: today, offer: OfferId::parse(OFFER).unwrap(), after: 0, limit: 10 };
    day::list(&db, &list_day, day::STEP).unwrap();
    written::get(&db, &reward_id(1)).unwrap();
    read_story(&db, &story::of("acme", &reward_id(1))).unwrap();
    of_click(&db, &read_click(1, None)).unwrap();
    let of_user = List { user_id: Some("user-1".to_owned()), ..list(Some("approved"), None, 10, None) };
    written::list(&db, &of_user, written::WALK).unwrap();
    operator::replay(&db, now_ms, &reward_id(1), CLAIM_MS).unwrap();
    bulk_replay_filters::run_every_statement(&db, now_ms);
    operator::standing(&db).unwrap();
    operator::enable(&db, now_ms, CLAIM_MS, now_ms).unwrap();
    next_alarm(&db, now_ms).unwrap();
    send_batches(&db, now_ms);
    batches::mark_of(&db, "ledger").unwrap();
    OutboxLog::of(&db, None).has(1).unwrap();
    let tomorrow = now_ms + DAY_MS;
    while night::add_step(&db, tomorrow, day::STEP).unwrap().is_some() {}
    now(night::vouch(&db, &super::days::Ledger::new(tomorrow, 0))).unwrap();
    feed::report_all(&db, now_ms);
    db.execute("UPDATE feed SET standing = standing + 1", &[]).unwrap();
    feed::report_in_vain(&db, now_ms + 3_000);
    feed::report_after_a_loss(&db, now_ms + 10_000);
    // A second attempt, which is no entry's first.
    operator::replay(&db, now_ms, &reward_id(1), CLAIM_MS).unwrap();
    for status in [500, 200] {
        send_all(&db, now_ms + i64::from(status) * DAY_MS / 500, status);
    }
    feed::report_after_a_loss(&db, now_ms + DAY_MS);
    for nights in [500, 501] {
        while retention::sweep(&db, now_ms + nights * DAY_MS).unwrap() == Some(now_ms + nights * DAY_MS + SECOND_MS) {}
    }

    convert(&db, &world, &conversion(9)).unwrap();
    journal::run_every_statement(&db, world.now_ms.get());
    gap::put_back(&db, now_ms).unwrap();
    gap::is_behind(&db, now_ms).unwrap();
    apply_settings(&db, now_ms, &settings(1_000, false));
    erasure::erase(&db, NOW, shard(), "user-9").unwrap();
    erasure::erase_everybody(&db, NOW, shard()).unwrap();
    while erasure::erase_next(&db).unwrap() {}
    retention::sweep(&db, now_ms + 502 * DAY_MS).unwrap();

    let fixture = [
        journal::LOSE[0],
        journal::LOSE[1],
        "UPDATE feed SET standing = standing + 1",
        bulk_replay_filters::DROP_DUE,
        bulk_replay_filters::PAY_LATER,
    ];
    // The other statements of that feed are tested in `attention`.
    let feeds = [
        outbox::feed::sql::ALL,
        sums::sql::ALL,
        outbox::callbacks::bulk_replay::sql::ALL,
        outbox::sums::journal::sql::ALL,
        outbox::gap::ALL,
        erasure::ALL,
        attention::OF_BATCHES,
    ]
    .concat();
    let listed = [sql::ALL, &feeds, batches::sql::ALL, &fixture].concat();
    assert_only_listed_statements(&db, &listed, outbox::MIGRATIONS);
}

#[test]
fn frequent_statements_use_an_index() {
    let db = outbox();
    // By statement: the details of its plan's steps.
    let hot: [(&str, &[&str]); 18] = [
        (
            sql::OF_CLICK,
            &[
                "c USING PRIMARY KEY (nonce=?)",
                "e USING INTEGER PRIMARY KEY (rowid=?)",
                "reservations USING PRIMARY KEY (nonce=?)",
            ],
        ),
        (sql::FREE_TXN, &["txns USING PRIMARY KEY (advertiser=? AND goal=? AND txn=?)"]),
        (sql::GET_OFFER, &["offers USING PRIMARY KEY (offer=?)"]),
        (sql::GET_TERMS, &["terms USING PRIMARY KEY (kind=? AND id=? AND revision=?)"]),
        (sql::AMEND, &["entries USING INTEGER PRIMARY KEY (rowid=?)"]),
        (
            sql::PAY,
            &[
                "entries USING INDEX entries_by_transaction (transaction_id=?)",
                "entries",
                "entries USING COVERING INDEX entries_paid_later",
                "changes",
            ],
        ),
        (sql::GET_PAID, &["entries USING INDEX entries_by_transaction (transaction_id=?)"]),
        (
            sql::DUE,
            &[
                "entries USING INDEX entries_waiting (due_ms<?)",
                "c USING PRIMARY KEY (nonce=? AND goal=?)",
                "r USING INTEGER PRIMARY KEY (rowid=?)",
            ],
        ),
        (sql::FIRST_DUE, &["entries USING COVERING INDEX entries_waiting (due_ms>?)"]),
        (sql::CONCLUDE, &["entries USING INTEGER PRIMARY KEY (rowid=?)"]),
        (sql::RELEASE_REVERSAL, &["entries USING INDEX entries_after (after=?)"]),
        (erasure::USER_TO_ERASE, &["entries USING INTEGER PRIMARY KEY (rowid=?)"]),
        (
            sql::LIST,
            &[
                "e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
                "c USING PRIMARY KEY (nonce=? AND goal=?)",
                "r USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN",
            ],
        ),
        (sql::ENTRY_BEFORE, &["entries USING INTEGER PRIMARY KEY (rowid<?)"]),
        (sql::ENTRY_AFTER, &["entries USING INTEGER PRIMARY KEY (rowid>?)"]),
        (erasure::COUNT_OF_USER, &["entries USING INDEX entries_by_user (user_id=?)"]),
        (erasure::MARK_USER, &["entries USING COVERING INDEX entries_by_user (user_id=?)"]),
        (
            sql::GET_ENTRY,
            &[
                "e USING INDEX entries_by_transaction (transaction_id=?)",
                "c USING PRIMARY KEY (nonce=? AND goal=?)",
                "r USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN",
            ],
        ),
    ];
    for (sql, steps) in hot {
        let mut plan = plan(&db, sql);
        // Leaves out the single rows of `outbox` and `positions`, and steps that only combine subqueries.
        plan.retain(|step| step != "SCAN outbox" && step != "SCAN positions" && !step.contains("SCALAR SUBQUERY"));
        plan.retain(|step| !["COMPOUND QUERY", "LEFT-MOST SUBQUERY", "UNION ALL"].contains(&step.as_str()));
        let found: Vec<_> = plan.iter().filter_map(|step| step.strip_prefix("SEARCH ")).collect();
        assert_eq!((found.as_slice(), found.len()), (steps, plan.len()), "{sql}: {plan:?}");
    }
}

#[test]
fn a_step_through_a_day_reads_only_its_own_entries() {
    let db = outbox();
    let searches = |sql: &str| -> Vec<String> {
        let plan = plan(&db, sql).into_iter();
        plan.filter(|step| step.starts_with("SEARCH")).collect()
    };
    assert_eq!(
        searches(sums::sql::LAST_OF_DAY),
        [
            "SEARCH entries USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
            "SEARCH entries USING COVERING INDEX entries_paid_later (movement>? AND movement<?)"
        ]
    );
    for sql in [sums::sql::SUM_DAY, sums::sql::LIST_DAY] {
        assert_eq!(
            searches(sql),
            [
                "SEARCH entries USING INTEGER PRIMARY KEY (rowid=?)",
                "SEARCH entries USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
                "SEARCH entries USING COVERING INDEX entries_paid_later (movement>? AND movement<?)"
            ]
        );
    }
}

#[test]
fn statements_that_scan_the_log_stop_after_some_rows() {
    let db = outbox();
    // Small tables: a statement's own values, one row, and work that waits.
    const SMALL: [&str; 10] = [
        "(",
        "json_each",
        "CONSTANT ROW",
        "entries USING COVERING INDEX entries_waiting",
        "entries USING INDEX entries_waiting",
        "outbox",
        "reservations",
        "nights",
        "positions",
        "txns_to_free",
    ];
    // By statement: what stops it, a number of rows or the first match.
    let bounded = [
        (sql::SWEEP_ATTEMPTS, "LIMIT ?"),
        (sql::SWEEP_KEPT, "LIMIT ?"),
        (sql::MORE_TO_SWEEP, "LIMIT 1"),
        (sql::ANYTHING_KEPT, "EXISTS"),
    ];
    // A journal has 31 days of batches, and those of the last three days name users. A restore reads all kept
    // postbacks, and the closing of a publisher deletes them.
    let long = [erasure::ERASE_JOURNAL, erasure::USERS_BESIDE_LOG, erasure::DROP_KEPT, erasure::MARK_ALL_RESERVATIONS];
    let of_log = [sql::ALL, erasure::ALL].concat().into_iter();
    for sql in of_log.filter(|sql| !long.contains(sql)) {
        let plan = plan(&db, sql);
        let scans: Vec<_> = plan
            .iter()
            .filter_map(|step| step.strip_prefix("SCAN "))
            .filter(|what| !SMALL.iter().any(|small| what.starts_with(small)))
            .collect();
        let bound = bounded.iter().find(|(bounded, _)| *bounded == sql);
        assert!(scans.is_empty() || bound.is_some(), "{sql}: {plan:?}");
        assert!(bound.is_none_or(|(_, bound)| sql.contains(bound)), "{sql}");
    }
    // Dead callbacks are found by their index, although the list starts with the newest.
    let few = plan(&db, sql::LIST_FEW);
    assert!(few[0].starts_with("SEARCH e USING INDEX entries_dead (delivery=?"), "{few:?}");
}
