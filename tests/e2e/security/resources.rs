//! Requests meant to exhaust resources: compressed, deeply nested or very long bodies, and numbers out of range.
//! Collision flooding is tested in `src/domain/model/seeded_hash.rs` and `src/domain/reporting/engine`.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::harness::{ANDROID_APP, Answer, CONVERSION, Publisher, Signpost, demo, gzip, with};

const GZIP: (&str, &str) = ("Content-Encoding", "gzip");
const JSON: (&str, &str) = ("Content-Type", "application/json");
const NDJSON: (&str, &str) = ("Content-Type", "application/x-ndjson");
const CSV: (&str, &str) = ("Content-Type", "text/csv");

/// Requests a report with a new key.
fn report(publisher: &Publisher<'_>, signpost: &Signpost, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    let key = publisher.create_key("an attack");
    let mut all = vec![("X-Api-Key", key.api_key.as_str()), JSON];
    all.extend_from_slice(headers);
    let answer = signpost.report(&all, body);
    publisher.revoke_key(&key);
    answer
}

fn offers(signpost: &Signpost, pub_key: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    let mut all = vec![("App-Id", ANDROID_APP), ("Pub-Key", pub_key), JSON];
    all.extend_from_slice(headers);
    signpost.send("POST", "/v1/offer/api", &all, body)
}

#[test]
fn only_facts_are_decompressed() {
    let signpost = demo();
    let pub_key = signpost.pub_key();
    let publisher = signpost.publisher("tr-gzip");
    let query = json!({"date_range": {"start_date": "2026-01-05", "end_date": "2026-01-05"}, "dimensions": ["app"],
        "metrics": ["clicks"]});
    let padded = |text: &str| gzip(format!("{}{text}", " ".repeat(24 << 20)).as_bytes());
    let form = ("Content-Type", "application/x-www-form-urlencoded");
    let texts = [
        r#"{"page":1,"size":1}"#.to_owned(),
        query.to_string(),
        r#"{"name":"x","approved":true}"#.to_owned(),
        r#"{"kind":"publisher","id":"tr-unpacked","name":"x","approved":true}"#.to_owned(),
        r#"{"label":"x"}"#.to_owned(),
        r#"{"user_id":"x"}"#.to_owned(),
        "click_id=x&token=y".to_owned(),
    ];
    for pack in [|text: &str| gzip(text.as_bytes()), padded] {
        let [offer, query, publishers, line, label, user, postback] = texts.each_ref().map(|text| pack(text));
        let answers = [
            offers(&signpost, &pub_key, &[GZIP], &offer),
            report(&publisher, &signpost, &[GZIP], &query),
            signpost.operate("PUT", "publishers/tr-unpacked", &[JSON, GZIP], &publishers),
            signpost.operate("POST", "import", &[NDJSON, GZIP], &line),
            signpost.operate("POST", "publishers/tr-gzip/report_keys", &[JSON, GZIP], &label),
            signpost.operate("POST", "apps/10000001/erase_user", &[JSON, GZIP], &user),
            signpost.send("POST", CONVERSION, &[form, GZIP], &postback),
        ];
        for answer in answers {
            assert!([400, 413, 415].contains(&answer.status), "{answer:?}");
            assert!(!answer.code().is_empty(), "{answer:?}");
        }
    }
    signpost.operator("GET", "publishers/tr-unpacked", None).expect(404);
}

#[test]
fn gzip_must_be_one_member_without_trailing_bytes() {
    let signpost = demo();
    let publisher = signpost.publisher("tr-members");
    let facts = "app_id,country,placement_id,ad_tag,demand_source,sdk_v,ad_requests,ad_responses,impressions,clicks,revenue\n\
        77000301,DE,p,t,d,s,1,1,1,1,0.5\n";
    let packed = gzip(facts.as_bytes());
    // The header is 10 bytes without a file name.
    let with_head = |flags: u8, more: &[u8]| [&[0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3], more, &packed[10..]].concat();
    let long_name = [&vec![b'n'; 4 << 20][..], b"\0"].concat();
    let extra = [&u16::MAX.to_le_bytes()[..], &vec![b'z'; 65_535]].concat();
    let send = |body: &[u8]| publisher.send_facts("PUT", "facts/2026-01-05", &[CSV, GZIP], body);
    for body in [packed.clone(), with_head(8, &long_name), with_head(4, &extra)] {
        assert_eq!(send(&body).expect(200).json(), json!({"rows": 1}));
    }
    let days = publisher.days();
    for body in [
        [&packed[..], &packed].concat(),
        [gzip(b"").repeat(10_000), packed.clone()].concat(),
        gzip(&packed),
        [&packed[..], b"more"].concat(),
        gzip(b""),
        with_head(8, &long_name[..1_000]),
    ] {
        send(&body).expect_error(400, "invalid_facts");
        assert_eq!(publisher.days(), days);
    }
}

/// Bodies that are not a valid document of any kind, with a name for each.
fn broken() -> Vec<(&'static str, Vec<u8>)> {
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(7_000), close.repeat(7_000)).into_bytes();
    let utf_16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    vec![
        ("arrays in arrays", deep("[", "]")),
        ("objects in objects", deep("{\"name\":", "}")),
        ("arrays in a member", [b"{\"name\":", &*deep("[", "]"), b"}"].concat()),
        ("arrays in an unknown member", [b"{\"zz\":", &*deep("[", "]"), b"}"].concat()),
        ("arrays that do not end", b"[".repeat(15_000)),
        ("UTF-16", utf_16("{\"page\":1,\"size\":1}")),
        ("a mark and nothing", b"\xef\xbb\xbf".to_vec()),
        ("half a surrogate", b"{\"name\":\"\\ud800\"}".to_vec()),
        ("a NUL", b"{\"name\":\"a\0\"}".to_vec()),
        ("no UTF-8", b"{\"name\":\"\xff\"}".to_vec()),
        ("a number without end", [b"{\"page\":", &*b"1".repeat(10_000), b"}"].concat()),
        ("an exponent without end", [b"{\"page\":1e", &*b"9".repeat(10_000), b"}"].concat()),
        ("a text", b"\"x\"".to_vec()),
        ("null", b"null".to_vec()),
        ("two documents", b"{}{}".to_vec()),
        ("blanks alone", b" ".repeat(15_000)),
    ]
}

#[test]
fn an_invalid_document_is_refused_by_every_endpoint_that_reads_one() {
    let signpost = demo();
    let pub_key = signpost.pub_key();
    let publisher = signpost.publisher("tr-broken");
    for (what, body) in broken() {
        let answers = [
            offers(&signpost, &pub_key, &[], &body),
            report(&publisher, &signpost, &[], &body),
            signpost.operate("PUT", "publishers/tr-never", &[JSON], &body),
            signpost.operate("PUT", "advertisers/tr-never", &[JSON], &body),
            signpost.operate("PUT", "apps/77000302", &[JSON], &body),
            signpost.operate("PUT", "offers/tr-never", &[JSON], &body),
            signpost.operate("POST", "publishers/tr-broken/report_keys", &[JSON], &body),
            signpost.operate("POST", "apps/10000001/erase_user", &[JSON], &body),
        ];
        for answer in answers {
            assert_eq!(answer.status, 400, "{what}: {answer:?}");
            let code = answer.code();
            let codes = ["invalid_json", "missing_field", "unknown_field", "invalid_field"];
            assert!(codes.contains(&&*code), "{what}: {answer:?}");
        }
        // NDJSON ignores blank lines and a leading byte order mark.
        if !["blanks alone", "a mark and nothing"].contains(&what) {
            signpost.operate("POST", "import", &[NDJSON], &body).expect_error(400, "invalid_import");
            publisher.send_facts("PUT", "facts/2026-01-05", &[NDJSON], &body).expect_error(400, "invalid_facts");
        }
    }
    for kind in ["publishers", "advertisers", "offers"] {
        signpost.operator("GET", &format!("{kind}/tr-never"), None).expect(404);
    }
    assert_eq!(publisher.days(), [] as [Value; 0]);
    // Blanks around a document are allowed.
    let blank = [&*b" ".repeat(60_000), b"{\"page\":1,\"size\":1}"].concat();
    offers(&signpost, &pub_key, &[], &blank).expect(200);
}

/// By default serde accepts an array as a struct's members, and an object with one member as an enum's variant.
#[test]
fn an_array_is_not_accepted_as_an_object_nor_an_object_as_an_enum() {
    let signpost = demo();
    let app = |changes: Value| {
        let app = json!({"publisher_id": "lumen-arcade", "name": "N", "platform": "android",
            "currency": {"name": "Coins", "per_usd": 1, "decimals": 0, "rounding": "down"}});
        with(app, &changes)
    };
    let offer = |changes: Value| {
        let offer = json!({"advertiser_id": "brindlefox-games", "off_type": "CPI", "s_id": "s", "name": "N",
            "lp_url": "https://adv.example/", "ic_url": "https://adv.example/i", "desc": "", "ctg": ["GAMING"], "os": "web",
            "geo_tgt": {}, "active": true,
            "goals": [{"id": "tr-shapes-g", "ttl": "t", "instr": "1. Play", "payout_usd": 1, "ord": 1}]});
        with(offer, &changes)
    };
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let hook = json!({"url": "https://p.example/", "method": "GET", "secret": secret});
    let hook_with = |member: &str, value: Value| {
        let mut hook = hook.clone();
        hook[member] = value;
        json!({"callback": hook})
    };
    let apps = [
        ("currency", app(json!({"currency": ["Coins", 1, 0, "down"]}))),
        (
            "currency.rounding",
            app(json!({"currency": {"name": "Coins", "per_usd": 1, "decimals": 0, "rounding": {"down": null}}})),
        ),
        ("callback", app(json!({"callback": ["https://p.example/", "GET", secret]}))),
        ("callback.method", app(hook_with("method", json!({"GET": null})))),
        ("callback.legacy_md5", app(hook_with("legacy_md5", json!(["secret"])))),
        ("platform", app(json!({"platform": {"android": null}}))),
        ("platform", app(json!({"platform": ["android"]}))),
    ];
    let goal = json!(["tr-shapes-g", "t", "1. Play", 1, 1, null]);
    let offers = [
        ("goals[0]", offer(json!({"goals": [goal]}))),
        ("geo_tgt", offer(json!({"geo_tgt": [["DE"], []]}))),
        ("click_cap", offer(json!({"click_cap": ["DAILY", 5]}))),
        ("conversion_cap", offer(json!({"conversion_cap": ["DAILY", 5]}))),
        ("click_cap.dur", offer(json!({"click_cap": {"dur": {"DAILY": null}, "lim": 5}}))),
        ("off_type", offer(json!({"off_type": {"CPI": null}}))),
        ("ctg[0]", offer(json!({"ctg": [{"GAMING": null}]}))),
    ];
    let apps = apps.map(|(field, body)| ("app", "77000303", field, body));
    let offers = offers.map(|(field, body)| ("offer", "tr-shapes", field, body));
    for (kind, id, field, mut body) in apps.into_iter().chain(offers) {
        let answer = signpost.operator("PUT", &format!("{kind}s/{id}"), Some(&body));
        let answer = answer.expect_error(400, "invalid_field");
        let message = answer.json()["error"].as_str().unwrap().to_owned();
        assert!(message.starts_with(&format!("{field}: ")), "{field}: {message}");
        body["kind"] = json!(kind);
        body["id"] = json!(id);
        signpost.import(&body.to_string()).expect_error(400, "invalid_import");
    }
    // Publishers' queries are parsed member by member, without serde's leniency.
    let pub_key = signpost.pub_key();
    for filt in
        [json!([["offer_id", {"type": "any", "value": ["1"]}]]), json!([{"dim": "offer_id", "match": ["any", ["1"]]}])]
    {
        signpost
            .offers(ANDROID_APP, &pub_key, &json!({"page": 1, "size": 1, "filt": filt}))
            .expect_error(400, "invalid_filter");
    }
    // A duplicate member is refused; the last one does not win.
    let twice = r#"{"name":"x","approved":false,"approved":true}"#;
    signpost.operate("PUT", "publishers/tr-twice", &[JSON], twice.as_bytes()).expect_error(400, "invalid_field");
}

#[test]
fn a_number_that_is_too_large_too_small_or_too_precise_is_refused() {
    let signpost = demo();
    let pub_key = signpost.pub_key();
    let publisher = signpost.publisher("tr-numbers");
    let digits = "9".repeat(400);
    let numbers = [
        "1e308",
        "-1e308",
        "1e309",
        "1e-400",
        "1e99999999999999999999",
        "-0",
        "-0.0",
        "0",
        "-1",
        "1.5",
        "9007199254740993",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775809",
        &digits,
    ];
    for number in numbers {
        let body = format!("{{\"page\":{number},\"size\":1}}");
        let answer = offers(&signpost, &pub_key, &[], body.as_bytes());
        assert!(answer.status == 400 && ["invalid_page", "invalid_json"].contains(&&*answer.code()), "{answer:?}");
        let body = format!(
            "{{\"date_range\":{{\"start_date\":\"2026-01-05\",\"end_date\":\"2026-01-05\"}},\"dimensions\":[\"app\"],\
             \"metrics\":[\"clicks\"],\"pagination\":{{\"page\":1,\"count\":{number}}}}}"
        );
        let answer = report(&publisher, &signpost, &[], body.as_bytes());
        assert!(
            answer.status == 400 && ["invalid_pagination", "invalid_json"].contains(&&*answer.code()),
            "{answer:?}"
        );
        // 0 and -0 are valid limits and times. All other numbers must be refused here, too.
        for (field, members) in [
            ("lim", format!("\"click_cap\":{{\"dur\":\"DAILY\",\"lim\":{number}}}")),
            ("starts_at", format!("\"starts_at\":{number}")),
            ("click_id_max", format!("\"click_id_max\":{number}")),
        ] {
            if ["0", "-0"].contains(&number) && field != "click_id_max" {
                continue;
            }
            let body = format!(
                "{{\"advertiser_id\":\"brindlefox-games\",\"off_type\":\"CPI\",\"s_id\":\"s\",\"name\":\"N\",\
                 \"lp_url\":\"https://adv.example/\",\"ic_url\":\"https://adv.example/i\",\"desc\":\"\",\"ctg\":[\"GAMING\"],\
                 \"os\":\"web\",\"geo_tgt\":{{}},\"active\":false,{members},\
                 \"goals\":[{{\"id\":\"tr-number-g\",\"ttl\":\"t\",\"instr\":\"i\",\"payout_usd\":1,\"ord\":1}}]}}"
            );
            if field == "starts_at" && number == "1.5" {
                continue;
            }
            let answer = signpost.operate("PUT", "offers/tr-number", &[JSON], body.as_bytes());
            assert!(
                answer.status == 400 && ["invalid_field", "invalid_json"].contains(&&*answer.code()),
                "{field}: {number}: {answer:?}"
            );
        }
    }
    signpost.operator("GET", "offers/tr-number", None).expect(404);
}

#[test]
fn requests_of_the_maximum_length_are_answered() {
    let signpost = demo();
    let pub_key = signpost.pub_key();
    let publisher = signpost.publisher("tr-long");
    let right = format!("rid=410271&app={ANDROID_APP}&user_id=u-1");
    // 5,000 unknown parameters, and 3,000 repetitions of a known one.
    let mut many = right.clone();
    for n in 0..5_000 {
        write!(many, "&x{n}=1").unwrap();
    }
    signpost.click(&many, "DE").expect(302);
    signpost.click(&(right.clone() + &"&c1=1".repeat(3_000)), "DE").expect_error(400, "invalid_parameter");
    // User agents that no phone would send.
    for agent in [
        "Android;(".repeat(6_000),
        "Mozilla/5.0 (".repeat(4_000),
        "iPhone Android ".repeat(3_000),
        "bot".repeat(15_000),
    ] {
        let answer = signpost.get(&format!("/v2/tracking/click?{right}"), &[("User-Agent", &agent)]);
        answer.expect(302);
    }
    // An ETag at the end of thousands is still found.
    let address = "/v1/offer/api?page=1&size=1";
    let credentials = [("App-Id", ANDROID_APP), ("Pub-Key", pub_key.as_str())];
    let [app, key] = credentials;
    // Another test may refresh in between, which changes the page.
    let found = (0..5).any(|_| {
        let answer = signpost.get(address, &credentials).expect(200);
        let tags = "\"0123456789abcdef\", ".repeat(2_000) + answer.header("ETag").unwrap();
        signpost.get(address, &[app, key, ("If-None-Match", &tags)]).status == 304
    });
    assert!(found, "the tag was not found among thousands");

    let dates = r#""date_range":{"start_date":"2026-01-05","end_date":"2026-01-05"}"#;
    let rest = r#""dimensions":["app"],"metrics":["clicks"]"#;
    let values = (0..60).map(|n| format!("\"v{n}\"")).collect::<Vec<_>>().join(",");
    let filter = format!("{{\"dimension\":\"placement_id\",\"values\":[{values}]}}");
    let reports = [
        (format!("{{{dates},{rest},{}\"z\":1}}", "\"z\":1,".repeat(30_000)), 204),
        (format!("{{{dates},\"metrics\":[\"clicks\"],\"dimensions\":[{}\"app\"]}}", "\"app\",".repeat(30_000)), 204),
        (format!("{{{dates},{rest},\"filters\":[{}]}}", vec![filter.as_str(); 64].join(",")), 204),
        (format!("{{{dates},{rest},\"filters\":[{}]}}", vec![filter.as_str(); 65].join(",")), 400),
        (
            format!(
                "{{{dates},{rest},\"order_by\":[{}]}}",
                vec!["{\"column\":\"clicks\",\"ascending\":true}"; 5_000].join(",")
            ),
            400,
        ),
    ];
    for (body, status) in reports {
        report(&publisher, &signpost, &[], body.as_bytes()).expect(status);
    }
    let accept = "text/csv;q=0.001,".repeat(3_000);
    let body = format!("{{{dates},{rest}}}");
    report(&publisher, &signpost, &[("Accept", &accept)], body.as_bytes()).expect(204);
    // Ten filters with the maximum of 1,000 values, in a body of less than 64 KiB.
    let ids = (0..1_000).map(|n| format!("\"{n}\"")).collect::<Vec<_>>().join(",");
    let filter = format!("{{\"dim\":\"offer_id\",\"match\":{{\"type\":\"any\",\"value\":[{ids}]}}}}");
    let body = format!("{{\"page\":1,\"size\":1,\"filt\":[{}]}}", [filter.as_str(); 10].join(","));
    offers(&signpost, &pub_key, &[], body.as_bytes()).expect(200);

    // Thousands of lines with an invalid last one import nothing.
    let mut lines = String::new();
    for n in 0..3_000 {
        let line = json!({"kind": "publisher", "id": format!("tr-line-{n}"), "name": "x", "approved": true});
        writeln!(lines, "{line}").unwrap();
    }
    lines += r#"{"kind":"app","id":"77000304","publisher_id":"tr-nobody","name":"x","platform":"web","currency":{"name":"C","per_usd":1,"decimals":0,"rounding":"down"}}"#;
    signpost.import(&lines).expect_error(400, "invalid_import");
    signpost.operator("GET", "publishers/tr-line-0", None).expect(404);
}
