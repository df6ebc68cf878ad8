//! The page and its script: what they allow, how they are cached, and how large they are.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Browser, HOST};
use crate::harness::{Answer, Setup, demo, root};

/// The most bytes of the page, and of page, styles and script together, compressed.
const MAX_PAGE: u64 = 14 << 10;
const MAX_FIRST: u64 = 60 << 10;
/// Everything, with the views that are loaded when they are opened. The console is the larger one.
const MAX_ALL: u64 = 120 << 10;

#[test]
fn every_view_is_the_page_with_a_strict_policy() {
    let signpost = demo();
    let mut bodies = Vec::new();
    for path in ["/dashboard", "/dashboard/reports", "/dashboard/settings/keys"] {
        let answer = signpost.get(path, &[("Host", HOST)]).expect(200);
        let policy = answer.header("Content-Security-Policy").unwrap();
        for directive in [
            "default-src 'none'",
            "script-src 'self'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
            "frame-ancestors 'none'",
            "style-src 'self' 'sha256-",
        ] {
            assert!(policy.contains(directive), "{policy}");
        }
        assert_eq!(answer.header("Content-Type"), Some("text/html; charset=utf-8"));
        assert_eq!(answer.header("Cache-Control"), Some("no-cache"));
        assert!(answer.body.contains("<h1"), "{answer:?}");
        bodies.push(answer.body);
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]));
}

#[test]
fn a_refusal_has_a_request_id_under_which_the_log_has_it() {
    let signpost = Setup::new().start();
    let id_of = |answer: &Answer| {
        let id = answer.header("X-Request-Id").unwrap_or_else(|| panic!("{answer:?}"));
        assert!(id.len() == 16 && hex::decode(id).is_ok(), "{id}");
        id.to_owned()
    };
    let refused = Browser::new(&signpost).get("overview").expect_error(401, "not_signed_in");
    let refused_id = id_of(&refused);
    signpost.fence();
    let lines = signpost.log_lines();
    let logged = lines.iter().find(|line| line["ray"] == refused_id.as_str());
    let logged = logged.unwrap_or_else(|| panic!("no {refused_id} in {lines:?}"));
    assert_eq!(logged["route"], "/v1/dashboard/overview");

    let unknown = || signpost.get("/dashboard/assets/unknown.js", &[("Host", HOST)]).expect(404);
    let ids = BTreeSet::from([refused_id, id_of(&unknown()), id_of(&unknown())]);
    assert_eq!(ids.len(), 3, "{ids:?}");
    // Other interfaces have Cloudflare's id alone.
    let answer = signpost.operator("GET", "publishers", None).expect(200);
    assert_eq!(answer.header("X-Request-Id"), None);
}

#[test]
fn a_script_is_cached_for_ever() {
    let signpost = demo();
    let page = signpost.get("/dashboard", &[("Host", HOST)]).expect(200).body;
    let (_, rest) = page.split_once("/dashboard/assets/").expect("a script");
    let name = rest.split('"').next().unwrap();
    let path = format!("/dashboard/assets/{name}");
    let script = signpost.get(&path, &[("Host", HOST)]).expect(200);
    assert_eq!(script.header("Cache-Control"), Some("public, max-age=31536000, immutable"));
    assert_eq!(script.header("Content-Type"), Some("text/javascript; charset=utf-8"));
    signpost.get("/dashboard/assets/other.js", &[("Host", HOST)]).expect_error(404, "not_found");
    signpost.get(&path, &[("Host", HOST), ("Sec-Fetch-Site", "cross-site")]).expect_error(404, "not_found");
    assert_eq!(script.header("Content-Encoding"), Some("gzip"));
    assert!(script.body.contains("addEventListener"), "{script:?}");
}

#[test]
fn an_address_by_number_leads_to_the_name() {
    let signpost = demo();
    let answer = signpost.get("/dashboard/reports", &[("Host", "127.0.0.1:8787")]).expect(302);
    assert_eq!(answer.location(), "http://localhost:8787/dashboard/reports");
    signpost.get("/dashboard", &[("Host", "rebound.example")]).expect_error(421, "misdirected_request");
}

#[test]
fn the_page_and_its_scripts_stay_small() {
    for site in ["dashboard", "console"] {
        let Sizes { page, first, all } = sizes(site);
        assert!(page <= MAX_PAGE, "the page of the {site} has {page} bytes");
        assert!(all <= MAX_ALL, "page and scripts of the {site} have {all} bytes");
        assert!(first <= MAX_FIRST, "page and first scripts of the {site} have {first} bytes");
    }
}

/// The bytes of a site's page, with the scripts that it loads at once, and with all.
struct Sizes {
    page: u64,
    first: u64,
    all: u64,
}

/// From the list of all pages and scripts. Views that are loaded when they are opened are in files of their own.
fn sizes(site: &str) -> Sizes {
    let pages = std::fs::read_to_string(root().join("build/origin/pages.js")).unwrap();
    let list = pages.split_once("const sites = ").unwrap().1;
    let list = list.split_once(";\n").unwrap().0;
    let sites: Value = serde_json::from_str(list).unwrap();
    let length = |start: &Value, end: &Value| end.as_u64().unwrap() - start.as_u64().unwrap();
    let page = length(&sites[site]["page"][0], &sites[site]["page"][1]);
    let (mut first, mut all) = (page, page);
    for file in sites[site]["files"].as_array().unwrap() {
        let bytes = length(&file[1], &file[2]);
        all += bytes;
        if file[3] == true {
            first += bytes;
        }
    }
    assert!(first < all, "{pages}");
    Sizes { page, first, all }
}
