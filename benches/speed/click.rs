//! Clicks: a redirect with all checks, sealed and counted, against the floor, which reads and writes the same and decides
//! nothing; against a constant redirect; and against one whose link is read from KV.

use std::{collections::HashSet, time::Duration};

use crate::{
    bench::{Bench, answered, cpu, throughput},
    harness::Signpost,
    large_catalog::{self, GOALS},
    load::{Latency, Load, Requests, interleaved, latency},
    sign::sign,
    stats::{differences, estimate, ratios},
    table::{Row, Verdict, grouped, interval, ms, per_second, spread, times},
};

/// Of these, 2,010 offers and 50 apps take the clicks of an Android device in Germany.
const OFFERS: usize = 15_000;
const APPS: usize = 150;
/// Different clicks of a run: every pair of offer and app that comes up. No two neighbours have the same goal or user.
const CLICKS: usize = 10_050;
const SECONDS: f64 = 4.0;

/// The headers of a browser on a phone.
const BROWSER: [(&str, &str); 3] = [
    (
        "User-Agent",
        "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36",
    ),
    ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"),
    ("Accept-Language", "de-DE,de;q=0.9,en;q=0.7"),
];
const COUNTRY: (&str, &str) = ("CF-IPCountry", "DE");
/// Cloudflare's `request.cf`, in the header that stands for it here.
const NETWORK: (&str, &str) = (
    "CF-Blob",
    r#"{"clientTcpRtt":18,"longitude":"8.68417","latitude":"50.11552","tlsCipher":"AEAD-AES128-GCM-SHA256","continent":"EU","asn":3320,"country":"DE","isEUCountry":"1","colo":"FRA","timezone":"Europe/Berlin","city":"Frankfurt am Main","region":"Hesse","regionCode":"HE","postalCode":"60313","httpProtocol":"HTTP/2","tlsVersion":"TLSv1.3","asOrganization":"Example Telecom"}"#,
);

const CLICK_SECRET: &str = "a-click-secret-of-thirty-two-or-more";

const DISTINCT_SECONDS: f64 = 60.0;

const TAIL_RATE: u32 = 1_000;
const TAIL_REQUESTS: u32 = 5_000;
/// Maximum CPU time of a click, as a multiple of the floor's: for clicks on one offer, and for clicks spread over many.
const ONE_OFFER: f64 = 1.3;
const SPREAD: f64 = 1.6;
/// Maximum CPU time of a counted click, as a multiple of an uncounted one's.
const COUNTING: f64 = 1.2;
const P99_TIMES: f64 = 1.5;
const P99_MORE_MS: f64 = 0.3;

/// Clicks from Android apps with an advertising id, on offers for every country and for Germany.
pub fn paths(offers: usize, apps: usize) -> Vec<String> {
    let for_germany = (0..offers).filter(|offer| {
        offer % 3 == 0 && (offer % 4 == 0 || large_catalog::countries(*offer).any(|country| country == COUNTRY.1))
    });
    let android = apps.div_ceil(3);
    let paths = for_germany.cycle().take(CLICKS).enumerate().map(|(n, offer)| {
        let goal = large_catalog::goal(offer * GOALS + n % GOALS);
        let app = large_catalog::app(n * 7 % android * 3);
        format!(
            "/v2/tracking/click?rid={goal}&app={app}&user_id=player-{n:06}&gaid=fa072672-d432-11c4-885a-{n:012x}&c1=level-{}",
            n % 50
        )
    });
    paths.collect()
}

/// A parameter of a click.
fn parameter<'p>(path: &'p str, wanted: &str) -> &'p str {
    let (_, query) = path.split_once('?').expect("a query");
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(name, _)| *name == wanted).expect("a parameter").1
}

/// Makes the app of a click sign its clicks, and signs this one.
fn signed(signpost: &Signpost, path: &str) -> String {
    let (app, user_id) = (parameter(path, "app"), parameter(path, "user_id"));
    let app_path = format!("apps/{app}");
    let mut document = signpost.operator("GET", &app_path, None).expect(200).json();
    let members = document.as_object_mut().expect("an object");
    members.retain(|member, _| !["app_id", "terms_revision"].contains(&member.as_str()));
    members.insert("click_secret".into(), CLICK_SECRET.into());
    signpost.put(&app_path, &document).expect(200);
    signpost.refresh();
    signpost.get(path, &[COUNTRY]).expect_error(403, "invalid_signature");
    format!("{path}&sig={}", sign(CLICK_SECRET, app, user_id, None))
}

/// The clicks as a browser in Germany sends them.
pub fn requests(bench: &Bench, paths: &[String]) -> Requests {
    let requests = Requests::get(bench.scratch(), paths);
    let headers = BROWSER.iter().chain([&COUNTRY]);
    headers.fold(requests, |requests, (name, value)| requests.header(name, value))
}

/// Runs a load of clicks and checks by Signpost's metrics that all were redirected.
pub fn load(bench: &Bench, signpost: &Signpost, requests: &mut Requests, seconds: f64) -> Load {
    let before = answered(signpost, "redirect");
    let load = requests.run(bench.scratch(), signpost, seconds);
    let redirected = answered(signpost, "redirect") - before;
    assert!(redirected >= load.requests, "{redirected} of {} were redirected", load.requests);
    load
}

pub fn rows(bench: &Bench) -> Vec<Row> {
    let catalog = bench.catalog(OFFERS, APPS);
    let ours = bench.signpost(&catalog).start();
    let in_production = bench.signpost(&catalog).var("TRUST_COUNTRY_HEADER", "false").start();
    let paths = paths(OFFERS, APPS);
    let goals: HashSet<_> = paths.iter().map(|path| parameter(path, "rid")).collect();
    let apps: HashSet<_> = paths.iter().map(|path| parameter(path, "app")).collect();
    assert!(goals.len() >= 2_000 && apps.len() == 50, "the clicks are not spread");
    let uncounted = bench.bench_build(&catalog).start();
    uncounted.send("POST", "/v1/bench/uncounted", &[], &[]).expect(204);
    let mut clicks = requests(bench, &paths).until_idle();
    let mut uncounted_clicks = clicks.clone();
    let mut one_offer = requests(bench, &paths[..1]).until_idle();
    let mut network_clicks = clicks.clone().header(NETWORK.0, NETWORK.1);

    let location = ours.get(&paths[0], &clicks.headers()).expect(302).location().to_owned();
    assert!(location.starts_with("https://go.example.com/c/0?click="), "{location}");
    let elsewhere = in_production.get(&paths[0], &network_clicks.headers()).expect(302);
    assert_eq!(elsewhere.location().len(), location.len());
    let constant = bench.yardstick("redirect").var("LOCATION", &location).start();
    assert_eq!(constant.get(&paths[0], &[]).expect(302).location(), location);

    let floor = |trust: &str| {
        let floor = bench.yardstick("floor").var("LOCATION", &location);
        floor.var("TRUST_COUNTRY_HEADER", trust).start()
    };
    let (floor, network_floor) = (floor("true"), floor("false"));
    assert_eq!(
        floor.get(&paths[0], &clicks.headers()).expect(302).headers().len(),
        ours.get(&paths[0], &clicks.headers()).expect(302).headers().len()
    );

    let hono = bench.yardstick("hono").start();
    std::fs::write(hono.state.path().join("kv/wall-17"), &location).expect("a value in KV");
    assert_eq!(hono.get("/go/wall-17", &[]).expect(302).location(), location);
    hono.get("/go/wall-18", &[]).expect(404);
    let links = vec!["/go/wall-17".to_owned()];
    let mut linked = BROWSER
        .iter()
        .fold(Requests::get(bench.scratch(), &links), |requests, (name, value)| requests.header(name, value));

    let signing = bench.signpost(&catalog).start();
    // Two clicks of different apps and offers in one process, of which the second is signed.
    let mut unsigned_click = requests(bench, &paths[..1]);
    let mut signed_click = requests(bench, &[signed(&signing, &paths[1])]);

    let mut constant_clicks = clicks.clone();
    let (mut floor_one, mut floor_clicks) = (one_offer.clone(), clicks.clone());
    let mut floor_network_clicks = network_clicks.clone();
    let scratch = bench.scratch();
    let found = interleaved(
        "click",
        bench.rounds,
        &mut [
            &mut || load(bench, &ours, &mut one_offer, SECONDS),
            &mut || load(bench, &ours, &mut clicks, SECONDS),
            &mut || floor_one.run(scratch, &floor, SECONDS),
            &mut || floor_clicks.run(scratch, &floor, SECONDS),
            &mut || constant_clicks.run(scratch, &constant, SECONDS),
            &mut || linked.run(scratch, &hono, SECONDS),
            &mut || load(bench, &uncounted, &mut uncounted_clicks, SECONDS),
        ],
    );
    let [one, scattered, floor_one, floor_spread, constant_clicks, linked, uncounted] =
        [0, 1, 2, 3, 4, 5, 6].map(|side| &found[side]);
    let mut rows = vec![
        cpu("click, one offer's, against the floor", Some(ONE_OFFER), one, floor_one).printed(),
        cpu("click, spread over offers and apps, against the floor", Some(SPREAD), scattered, floor_spread).printed(),
        cpu(
            "click, spread over offers and apps, against itself without counting",
            Some(COUNTING),
            scattered,
            uncounted,
        )
        .printed(),
        throughput("click, one offer's, against Hono and a link in KV", Some(1.8), one, linked).printed(),
        throughput("click, one offer's, against a constant 302", None, one, constant_clicks).printed(),
        throughput("click, spread over offers and apps, against a constant 302", None, scattered, constant_clicks)
            .printed(),
    ];
    let found = interleaved(
        "click with the network's country",
        bench.rounds,
        &mut [&mut || load(bench, &in_production, &mut network_clicks, SECONDS), &mut || {
            floor_network_clicks.run(scratch, &network_floor, SECONDS)
        }],
    );
    let work = "the same, the country from `request.cf` as in production, against the floor that reads it";
    rows.push(cpu(work, Some(SPREAD), &found[0], &found[1]).printed());
    let found = interleaved(
        "signed click",
        bench.rounds,
        &mut [&mut || load(bench, &signing, &mut signed_click, SECONDS), &mut || {
            load(bench, &signing, &mut unsigned_click, SECONDS)
        }],
    );
    let work = "click with a signature, one offer's, against one without";
    rows.push(throughput(work, None, &found[0], &found[1]).printed());
    rows.push(distinct(bench, &ours, &paths).printed());
    rows.push(tail(bench, &ours, &constant, &paths[0]).printed());
    rows
}

/// Sends clicks for a minute as fast as they are answered, each with a placement of its own. Checks that all of these
/// are counted, each with its country and placement.
fn distinct(bench: &Bench, signpost: &Signpost, paths: &[String]) -> Row {
    let paths: Vec<String> = paths.iter().map(|path| format!("{path}&placement=p-")).collect();
    let mut clicks = requests(bench, &paths).until_idle().numbered();
    let publisher = signpost.existing_publisher(large_catalog::PUBLISHER);
    let (counted_before, redirected_before) = (publisher.clicks(), answered(signpost, "redirect"));
    let found = load(bench, signpost, &mut clicks, DISTINCT_SECONDS);
    let redirected = answered(signpost, "redirect") - redirected_before;
    let lost = ["uncounted", "coarse"].map(|how| signpost.metric(&format!("signpost_isolate_clicks_{how}_total")));
    // A batch reaches the ledger some seconds after its clicks.
    let mut counted = 0;
    for _ in 0..100 {
        counted = publisher.clicks() - counted_before;
        if counted == redirected {
            break;
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    Row {
        work: format!("{DISTINCT_SECONDS:.0} s of clicks that all count apart"),
        ours: format!("{} of {} counted", grouped(counted as f64), grouped(redirected as f64)),
        yardstick: "-".to_owned(),
        ratio: per_second(found.per_second),
        target: "all, nothing coarse".to_owned(),
        verdict: Verdict::of(counted == redirected && lost == [0, 0]),
        notes: vec![format!(
            "{} not counted, {} without placement and country; {:.1} µs of CPU for each",
            lost[0], lost[1], found.cpu_us
        )],
    }
}

fn tail(bench: &Bench, ours: &Signpost, constant: &Signpost, path: &str) -> Row {
    let headers: Vec<_> = BROWSER.iter().chain([&COUNTRY]).copied().collect();
    let ask = |server: &Signpost| latency(server, path, &headers, 302, TAIL_RATE, TAIL_REQUESTS);
    let found = interleaved("tail", bench.rounds, &mut [&mut || ask(ours), &mut || ask(constant)]);
    let of = |side: usize, pick: fn(&Latency) -> f64| -> Vec<f64> { found[side].iter().map(pick).collect() };
    let [ours, theirs] = [0, 1].map(|side| of(side, |latency| latency.p99));
    let [our_p50, their_p50] = [0, 1].map(|side| estimate(&of(side, |latency| latency.p50)).expect("rounds").median);
    let slowest = [0, 1].map(|side| of(side, |latency| latency.slowest));
    let ratio = estimate(&ratios(&ours, &theirs)).expect("rounds");
    let more = estimate(&differences(&ours, &theirs)).expect("rounds");
    Row {
        work: format!("click, p99 at {TAIL_RATE} a second"),
        ours: spread(&ours, ms),
        yardstick: spread(&theirs, ms),
        ratio: format!("{}; {} more", interval(&ratio, times), interval(&more, ms)),
        target: format!("≤ {} or + {}", times(P99_TIMES), ms(P99_MORE_MS)),
        verdict: if ratio.high <= P99_TIMES || more.high <= P99_MORE_MS {
            Verdict::Met
        } else if ratio.low > P99_TIMES && more.low > P99_MORE_MS {
            Verdict::Missed
        } else {
            Verdict::Open
        },
        notes: vec![format!(
            "{TAIL_REQUESTS} requests a round, latency corrected; p50 {} and {}; slowest {} and {}",
            ms(our_p50),
            ms(their_p50),
            spread(&slowest[0], ms),
            spread(&slowest[1], ms)
        )],
    }
}
