//! This release beside a made-up next one (`tests/e2e/releases/next.patch`): during a deployment either Worker may be
//! newer, and after a rollback older code meets newer data. Every answer is a stated one, every promise is kept,
//! and a partner gets no final refusal that a retry would have cured.

use std::{thread, time::Duration};

use serde_json::json;

use crate::{
    clicks::click_id_at,
    harness::{Answer, OfferWall, Receiver, Setup, Signpost, callback, eventually_within, expect_accepted, now_ms},
    release_state,
    restored::OUTBOXES,
    security::chaos::{
        clicks::Clicks,
        conversions::Conversions,
        facts::Facts,
        operator::Operator,
        report_keys::ReportKeys,
        run_until, setting,
        world::{Client, World},
    },
};
use domain::model::SECOND_MS;

const BOTH_OF_THIS: &str = "releases/this.capnp";
const EDGE_OF_NEXT: &str = "releases/edge_of_next.capnp";
const ORIGIN_OF_NEXT: &str = "releases/origin_of_next.capnp";
const BOTH_OF_NEXT: &str = "releases/next.capnp";
/// The same without the internet, as `release_state::THIS`.
const STATE_OF_NEXT: &str = "releases/state_of_next.capnp";

/// Every change from one pair of releases to another, once.
const ALL_ORDERS: [&str; 13] = [
    BOTH_OF_THIS,
    ORIGIN_OF_NEXT,
    BOTH_OF_NEXT,
    ORIGIN_OF_NEXT,
    BOTH_OF_THIS,
    EDGE_OF_NEXT,
    BOTH_OF_NEXT,
    EDGE_OF_NEXT,
    BOTH_OF_THIS,
    BOTH_OF_NEXT,
    BOTH_OF_THIS,
    ORIGIN_OF_NEXT,
    EDGE_OF_NEXT,
];

fn start() -> Signpost {
    let setup = Setup::new().config(BOTH_OF_THIS).var("CALLBACK_TIMEOUT_MS", "1000");
    // The next release adds a value to answers.
    setup.without_api_check().start()
}

#[test]
fn promises_survive_deployments_and_rollbacks_in_all_orders_under_mixed_traffic() {
    let seed = setting("SEED", now_ms().unsigned_abs());
    println!("SEED={seed}");
    let receiver = Receiver::start();
    let signpost = start();
    let world = World::new(&signpost, &receiver);
    let mut clients: Vec<Box<dyn Client + '_>> = vec![
        Box::new(Clicks::new(&world, "releases-clicks", "79000941", seed ^ 1)),
        Box::new(Conversions::new(&world, "releases-1", "79000942", seed ^ 2)),
        Box::new(Conversions::new(&world, "releases-2", "79000943", seed ^ 3)),
        Box::new(Facts::new(&world, "releases-facts", seed ^ 4)),
        Box::new(Operator::new(&world, seed ^ 5)),
        Box::new(ReportKeys::new(&world, "releases-keys", seed ^ 6)),
    ];
    signpost.refresh();
    run_until(&world, &mut clients, ALL_ORDERS.len(), |time| {
        thread::sleep(Duration::from_millis(2_500));
        signpost.set_config(ALL_ORDERS[time]);
        world.kill();
    });
    // The next release ran: only it applies this migration.
    let newest = "SELECT MAX(version) FROM migrations";
    assert!(signpost.stored(OUTBOXES, newest, |row| row.get::<_, i64>(0)).contains(&2));
    let promises: usize = clients.iter_mut().map(|client| client.verify()).sum();
    println!("{}", world.summary());
    println!("SEED={seed}: {} changes, {promises} promises checked, lost 0", ALL_ORDERS.len());
}

/// Changes the releases of both Workers.
fn deploy(signpost: &Signpost, pair: &'static str) {
    signpost.set_config(pair);
    signpost.restart();
}

/// True if a partner retries after the answer, and the answer has no internal name.
fn is_retried(answer: &Answer) -> bool {
    answer.is_retried() && !answer.body.contains("later")
}

#[test]
fn what_only_the_next_release_knows_waits_for_it() {
    let receiver = Receiver::start();
    let signpost = start();
    let wall = signpost.offer_wall("plain", "79000945", None);
    let click = |wall: &OfferWall<'_>| signpost.click(&format!("rid={}-1&app={}&user_id=u", wall.id, wall.app), "DE");

    // The next release is deployed, and all that it adds is used.
    deploy(&signpost, BOTH_OF_NEXT);
    let later = signpost.unpublished_offer_wall("later", "79000946", None);
    later.put_offer(&json!({
        "os": "desktop", "later": ["kept"], "target_url": "https://adv.example/?later={later}&clickid={click_id}",
    }));
    let url = format!("{}/cb?later={{later}}&tx={{transaction_id}}&value={{value}}", receiver.base());
    later.put_app(&json!({ "callback": callback(&url, "GET") }));
    wall.put_offer(&json!({"later": ["kept"]}));
    signpost.refresh();
    let clicked = click(&later).expect(302);
    assert!(clicked.location().contains("/?later=yes&clickid="), "{clicked:?}");
    let clicked = click_id_at(&clicked);
    let mut paid = vec![(clicked.clone(), expect_accepted(later.convert(&clicked, "&later=1"), "approved", false))];
    receiver.wait(1);

    for pair in [ORIGIN_OF_NEXT, BOTH_OF_THIS, EDGE_OF_NEXT] {
        deploy(&signpost, pair);
        for wall in [&wall, &later] {
            let answer = click(wall);
            // An offer with a value that this release does not know is left out of what it publishes. No other offer is.
            let is_left_out = pair != ORIGIN_OF_NEXT && wall.id == "later" && answer.code() == "unknown_goal";
            assert!(answer.status == 302 || is_retried(&answer) || is_left_out, "{pair}: {answer:?}");
            assert!(pair == ORIGIN_OF_NEXT || wall.id == "later" || answer.status == 302, "{pair}: {answer:?}");
        }
        // Clicks of the offer are paid nevertheless, each once.
        for (click_id, id) in &paid {
            assert_eq!(&expect_accepted(later.convert(click_id, ""), "approved", true), id, "{pair}");
        }
        let click_id = later.click_id(&format!("user of {pair}"));
        if pair == EDGE_OF_NEXT {
            // The origin does not know the operation that this postback needs.
            let answer = later.convert(&click_id, "&later=1");
            assert!(is_retried(&answer), "{answer:?}");
        }
        paid.push((click_id.clone(), expect_accepted(later.convert(&click_id, ""), "approved", false)));
        if pair == BOTH_OF_THIS {
            wall.put_offer(&json!({"name": "Changed"}));
            signpost.operator("PUT", "offers/later", Some(&later.offer())).expect_error(400, "invalid_field");
        }
    }
    // No callback was sent with a macro that the origin does not know.
    thread::sleep(Duration::from_secs(2));
    assert_eq!(receiver.count(), 2);

    // The next release is deployed again, and what waited goes on.
    deploy(&signpost, BOTH_OF_NEXT);
    eventually_within(30 * SECOND_MS, &302, || click(&later).status);
    let of_plain = wall.offer();
    assert_eq!((&of_plain["name"], &of_plain["later"]), (&json!("Changed"), &json!(["kept"])));
    assert_eq!(later.offer()["later"], json!(["kept"]));
    let sent = receiver.wait_for_transactions(60 * SECOND_MS, paid.len());
    assert!(sent.values().all(|times| *times == 1), "{sent:?}");
    assert!(receiver.received().iter().all(|callback| callback.target.contains("later=yes")));
}

#[test]
fn the_next_release_and_after_a_rollback_this_one_keep_the_promises_of_every_release() {
    for release in release_state::all() {
        let receiver = Receiver::start();
        let signpost = release.start(STATE_OF_NEXT, &receiver);
        release.check(&signpost, &receiver);
        deploy(&signpost, release_state::THIS);
        release.check(&signpost, &receiver);
    }
}
