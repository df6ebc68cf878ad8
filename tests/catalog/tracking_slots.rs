//! The slots of the tracking snapshot against a naive model: whatever changes, and whatever fails in between, the shards
//! in KV become those that the tables make, and only changed ones are written.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use crate::{
    Catalog, NOON, app, body, offer,
    service::{Kv, check_reachable, publish_tracking, run_for, sweep},
    sqlite::Fault,
    tracking::Tracking,
    with,
};
use contract::{
    catalog::{Command, IssuePubKey, IssueToken, Resource},
    kv::shard_key,
};
use domain::{
    model::AppId,
    snapshot::{
        envelope::checksum,
        tracking::{GoalShard, Manifest, Shard, ShardKind, Slot},
    },
};
use origin::objects::catalog::tracking_slots;

const HOUR_MS: i64 = 3_600_000;

fn lines(offers: std::ops::Range<usize>, name: &str) -> String {
    let line = |n: usize| {
        let members = json!({ "kind": "offer", "id": format!("o-{n}"), "name": name });
        with(offer(&[&format!("g-{n}"), &format!("h-{n}")]), &members).to_string() + "\n"
    };
    offers.map(line).collect()
}

fn import(catalog: &Catalog, lines: &str) {
    body(&catalog.import(lines).unwrap(), 200);
}

fn published(kv: &Kv) -> Tracking {
    Tracking::of_kv(kv, &kv.pointer().unwrap())
}

/// Checks that KV has the shards that the tables make, and no others.
fn check_current(catalog: &Catalog, kv: &Kv) {
    let pointer = kv.pointer().unwrap();
    let manifest = Manifest::open(pointer.manifest).unwrap();
    for kind in ShardKind::ALL {
        for (slot, named) in manifest.slots(kind) {
            let built = tracking_slots::build(&catalog.db, slot, catalog.now()).unwrap();
            let built = built.unwrap();
            assert_eq!(built.checksum(), named, "{slot:?}");
            assert_eq!(kv.get(&shard_key(kind, named)).as_ref(), Some(&built.bytes));
        }
    }
}

#[test]
fn a_large_catalog_has_small_shards_and_a_change_writes_few_of_them() {
    let (catalog, kv) = (Catalog::small(), Kv::default());
    import(&catalog, &lines(0..1_500, "A game"));
    let apps: String = (0..300)
        .map(|n| with(app("acme"), &json!({ "kind": "app", "id": format!("{n:08}") })).to_string() + "\n")
        .collect();
    import(&catalog, &apps);
    run_for(&catalog, &kv, 2_000);
    check_current(&catalog, &kv);
    let tracking = published(&kv);
    assert!(tracking.goal_shards() >= 16, "{}", tracking.goal_shards());
    for n in 0..1_500 {
        let goal = tracking.goal(&format!("h-{n}")).unwrap();
        assert_eq!(goal.offer.id, format!("o-{n}"));
    }
    assert!((0..300).all(|n| tracking.app(AppId::from_number(n).unwrap()).is_some()));
    let values = kv.values.borrow().clone();
    for (key, value) in &values {
        let is_shard = !key.starts_with("listing-") && !key.starts_with("bodies-");
        assert!(!is_shard || value.len() <= 33 << 10, "{key} has {} bytes", value.len());
    }

    import(&catalog, &lines(700..701, "Another game"));
    kv.writes.set(0);
    publish_tracking(&catalog, &kv).unwrap();
    assert_eq!(kv.writes.get(), 3, "the shards of its two goals, and the pointer");
    check_current(&catalog, &kv);
    kv.writes.set(0);
    let publisher_id = "acme".to_owned();
    catalog.send(Command::IssuePubKey(IssuePubKey { publisher_id })).unwrap();
    publish_tracking(&catalog, &kv).unwrap();
    let of_apps = values.keys().filter(|key| key.starts_with("apps-")).count();
    assert_eq!(kv.writes.get(), of_apps + 1, "the publisher's key stands with each of its apps");
    check_current(&catalog, &kv);
}

#[test]
fn while_the_slots_of_goals_are_doubled_changes_of_apps_are_published() {
    let (catalog, kv) = (Catalog::small(), Kv::default());
    let app = with(app("acme"), &json!({ "kind": "app", "id": "10000001" })).to_string();
    import(&catalog, &(lines(0..1_500, "A game") + &app + "\n"));
    run_for(&catalog, &kv, 2_000);
    let slots = |manifest: &Manifest, kind| manifest.slots(kind).collect::<Vec<_>>();
    let before = Manifest::open(kv.pointer().unwrap().manifest).unwrap();

    import(&catalog, &lines(1_500..6_000, "A game"));
    let publisher_id = "acme".to_owned();
    catalog.send(Command::IssuePubKey(IssuePubKey { publisher_id })).unwrap();
    // Acts like an invocation that may write only some shards of the doubled slots.
    let bits = slots(&before, ShardKind::Goals)[0].0.bits;
    let mut doubled = 0;
    while doubled < 3 {
        for changed in tracking_slots::changed(&catalog.db, 4).unwrap() {
            let built = tracking_slots::build(&catalog.db, changed.slot, catalog.now()).unwrap();
            let Some(built) = built else { continue };
            doubled += u32::from(changed.slot.kind == ShardKind::Goals && changed.slot.bits > bits);
            let key = shard_key(changed.slot.kind, built.checksum());
            kv.values.borrow_mut().insert(key, built.bytes.clone());
            tracking_slots::record_written(&catalog.db, changed, &built, catalog.now()).unwrap();
        }
    }
    let prepared = tracking_slots::prepare_manifest(&catalog.db, None, catalog.now()).unwrap();
    let manifest = Manifest::open(prepared.expect("a manifest").bytes).unwrap();
    assert_eq!(slots(&manifest, ShardKind::Goals), slots(&before, ShardKind::Goals));
    assert_ne!(slots(&manifest, ShardKind::Apps), slots(&before, ShardKind::Apps));
    run_for(&catalog, &kv, 60_000);
    check_current(&catalog, &kv);
}

#[test]
fn a_shard_leaves_kv_a_day_after_its_last_manifest() {
    let (catalog, kv) = (Catalog::small(), Kv::default());
    let put = |name: &str| catalog.put(Resource::Offer, "o-1", &with(offer(&["g-1"]), &json!({ "name": name })));
    let goals = || kv.values.borrow().keys().filter(|key| key.starts_with("goals-")).count();
    put("one");
    run_for(&catalog, &kv, 2_000);
    assert_eq!(goals(), 1);
    put("two");
    run_for(&catalog, &kv, 2_000);
    assert_eq!(goals(), 2);
    run_for(&catalog, &kv, 24 * HOUR_MS - 5_000);
    assert_eq!(goals(), 2);
    run_for(&catalog, &kv, HOUR_MS);
    assert_eq!(goals(), 1);
    check_current(&catalog, &kv);
}

#[test]
fn an_offer_that_ended_long_ago_leaves_its_shard_in_turn() {
    let (catalog, kv) = (Catalog::small(), Kv::default());
    let ends = json!({ "ends_at": NOON / 1_000 + 60 });
    catalog.put(Resource::Offer, "o-1", &with(offer(&["g-1"]), &ends));
    run_for(&catalog, &kv, 2_000);
    assert!(published(&kv).goal("g-1").is_some());
    catalog.wait(98 * 24 * HOUR_MS);
    run_for(&catalog, &kv, HOUR_MS);
    assert!(published(&kv).goal("g-1").is_none());
}

#[test]
fn a_shard_that_kv_lost_is_written_again_when_an_isolate_misses_it() {
    let (catalog, kv) = (Catalog::small(), Kv::default());
    catalog.put(Resource::Offer, "o-1", &offer(&["g-1"]));
    run_for(&catalog, &kv, 2_000);
    let slot = Slot::of(ShardKind::Goals, 0, 0);
    let manifest = Manifest::open(kv.pointer().unwrap().manifest).unwrap();
    let key = shard_key(ShardKind::Goals, manifest.checksum(slot).unwrap());
    let lost = kv.values.borrow_mut().remove(&key).unwrap();
    let missed = || tracking_slots::for_isolate(&catalog.db, slot, catalog.now()).unwrap();
    // KV may not show a new value yet, so an early miss writes nothing.
    assert_eq!(missed(), lost);
    publish_tracking(&catalog, &kv).unwrap();
    assert_eq!(kv.get(&key), None);
    catalog.wait(HOUR_MS);
    assert_eq!(missed(), lost);
    run_for(&catalog, &kv, 2_000);
    assert_eq!(kv.get(&key), Some(lost));
    check_current(&catalog, &kv);
}

/// An isolate with an older manifest asks for its own slots.
#[test]
fn the_catalog_answers_for_slots_of_other_bits() {
    let catalog = Catalog::small();
    import(&catalog, &lines(0..10, "A game"));
    for bits in 0..4 {
        for number in 0..1 << bits {
            let slot = Slot { kind: ShardKind::Goals, bits, number };
            let bytes = tracking_slots::for_isolate(&catalog.db, slot, catalog.now()).unwrap();
            assert!(checksum(&bytes).is_some() && GoalShard::open(slot, bytes).is_ok());
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Offer {
        offer: u8,
        goals: u8,
        pays: u8,
    },
    App {
        app: u8,
        name: u8,
    },
    Publisher {
        approved: bool,
    },
    PubKey,
    Token,
    Many {
        from: u16,
    },
    /// Runs alarms for some seconds, while a write to KV fails.
    Run {
        seconds: u16,
        fault: Option<(usize, bool)>,
    },
    Sweep,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..6_u8, 1..4_u8, 0..3_u8).prop_map(|(offer, goals, pays)| Step::Offer { offer, goals, pays }),
        2 => (0..4_u8, 0..3_u8).prop_map(|(app, name)| Step::App { app, name }),
        1 => any::<bool>().prop_map(|approved| Step::Publisher { approved }),
        1 => Just(Step::PubKey),
        1 => Just(Step::Token),
        1 => (0..400_u16).prop_map(|from| Step::Many { from }),
        4 => (1..40_u16, proptest::option::of((1..12_usize, any::<bool>())))
            .prop_map(|(seconds, fault)| Step::Run { seconds, fault }),
        1 => Just(Step::Sweep),
    ];
    proptest::collection::vec(step, 1..14)
}

fn take(catalog: &Catalog, kv: &Kv, step: &Step) {
    match step {
        Step::Offer { offer: n, goals, pays } => {
            let ids: Vec<_> = (0..*goals).map(|goal| format!("g-{n}-{goal}")).collect();
            let ids: Vec<_> = ids.iter().map(String::as_str).collect();
            let changed = with(offer(&ids), &json!({ "name": format!("{pays}") }));
            catalog.put(Resource::Offer, &format!("o-{n}"), &changed);
        }
        Step::App { app: n, name } => {
            let document = with(app("acme"), &json!({ "name": format!("{name}") }));
            catalog.put(Resource::App, &format!("1000000{n}"), &document);
        }
        Step::Publisher { approved } => {
            catalog.put(Resource::Publisher, "acme", &json!({ "name": "Acme", "approved": approved }));
        }
        Step::PubKey => {
            let publisher_id = "acme".to_owned();
            catalog.send(Command::IssuePubKey(IssuePubKey { publisher_id })).unwrap();
        }
        Step::Token => {
            let advertiser_id = "northwind".to_owned();
            catalog.send(Command::IssueToken(IssueToken { advertiser_id })).unwrap();
        }
        Step::Many { from } => import(catalog, &lines(usize::from(*from)..usize::from(*from) + 150, "Many")),
        Step::Run { seconds, fault } => {
            let fault = fault.map(|(nth, is_before)| (nth, if is_before { Fault::Before } else { Fault::After }));
            kv.writes.set(0);
            kv.fault.set(fault);
            run_for(catalog, kv, i64::from(*seconds) * 1_000);
            kv.fault.set(None);
        }
        Step::Sweep => {
            catalog.wait(30 * HOUR_MS);
            // An alarm sweeps only after it has written the pointer.
            run_for(catalog, kv, 310_000);
            sweep(catalog, kv).unwrap();
            check_reachable(kv);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn kv_becomes_what_the_tables_make(steps in steps()) {
        let (catalog, kv) = (Catalog::small(), Kv::default());
        for step in &steps {
            take(&catalog, &kv, step);
        }
        run_for(&catalog, &kv, 30_000);
        check_current(&catalog, &kv);
        let goals = catalog.rows("SELECT id, offer_id, retired_at_ms IS NOT NULL FROM goals");
        let tracking = published(&kv);
        let found: BTreeMap<_, _> = goals
            .iter()
            .map(|row| (row.text(0).unwrap(), tracking.goal(row.text(0).unwrap()).unwrap()))
            .collect();
        for row in &goals {
            let goal = found[row.text(0).unwrap()];
            prop_assert_eq!(goal.offer.id, row.text(1).unwrap());
            prop_assert_eq!(goal.retired, row.boolean(2).unwrap());
        }
    }
}
