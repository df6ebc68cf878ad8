//! Clicks while shards of the tracking snapshot are missing, late, damaged or from another time. The answer is right or
//! 503, and never a 404 or another offer.

use std::{fs, path::PathBuf};

use contract::kv::{KEY, Pointer};
use serde_json::json;

use crate::{
    faults::{damage, inject_faults},
    harness::{ANDROID_APP, Answer, Setup, Signpost},
};
use domain::snapshot::tracking::Manifest;

/// An isolate that looks for a newer manifest on every request.
fn started() -> Signpost {
    let (signpost, _) = Setup::new().config("faults.capnp").var("REVALIDATE_SECONDS", "0").start_with_fixtures();
    signpost
}

fn click(signpost: &Signpost) -> Answer {
    signpost.click("rid=410271&app=10000001&user_id=u-1", "DE")
}

fn kv(signpost: &Signpost) -> PathBuf {
    signpost.state.path().join("kv")
}

/// The files of the shards of goals, apps and advertisers.
fn shards(signpost: &Signpost) -> Vec<PathBuf> {
    let files = fs::read_dir(kv(signpost)).expect("a folder");
    let files = files.map(|file| file.expect("a file").path());
    let is_shard = |file: &PathBuf| {
        let name = file.file_name().expect("a name").to_string_lossy();
        ["goals-", "apps-", "advertisers-"].iter().any(|kind| name.starts_with(kind))
    };
    files.filter(is_shard).collect()
}

fn pointer(signpost: &Signpost) -> Pointer {
    Pointer::parse(&fs::read(kv(signpost).join(KEY)).expect("a pointer")).expect("a pointer")
}

fn set_pointer(signpost: &Signpost, pointer: &Pointer) {
    fs::write(kv(signpost).join(KEY), pointer.to_value().expect("a value")).expect("written");
}

/// Checks a cold isolate with the catalog and without it. It may then hold shards that it has loaded.
fn check_cold(signpost: &Signpost, what: &str) {
    signpost.restart();
    inject_faults(signpost, "catalog");
    let answer = click(signpost);
    assert!(matches!(answer.status, 302 | 503), "{what} without the catalog: {answer:?}");
    signpost.restart();
    inject_faults(signpost, "");
    let location = click(signpost).expect(302).location().to_owned();
    assert!(location.starts_with("https://go."), "{what}: {location}");
    signpost.click("rid=unknown&app=10000001&user_id=u-1", "DE").expect_error(404, "unknown_goal");
    signpost.click("rid=410271&app=99999999&user_id=u-1", "DE").expect_error(404, "unknown_app");
}

#[test]
fn a_cold_click_reads_the_pointer_and_its_two_shards_once() {
    let (signpost, _) = Setup::new().config("faults.capnp").start_with_fixtures();
    signpost.restart();
    let read = || {
        let keys = signpost.get(&format!("{}/reads", signpost.control()), &[]);
        serde_json::from_str::<Vec<String>>(&keys.expect(200).body).expect("keys")
    };
    read();
    click(&signpost).expect(302);
    let keys = read();
    let of = |kind: &str| keys.iter().filter(|key| key.starts_with(kind)).count();
    assert_eq!((keys.len(), of(KEY), of("apps-"), of("goals-")), (3, 1, 1, 1), "{keys:?}");
}

#[test]
fn a_shard_that_is_missing_or_damaged_comes_from_the_catalog() {
    let signpost = started();
    for file in shards(&signpost) {
        damage(&file);
    }
    check_cold(&signpost, "damaged");
    // A value of another key.
    let files = shards(&signpost);
    for (n, file) in files.iter().enumerate() {
        fs::copy(&files[(n + 1) % files.len()], file).expect("copied");
    }
    check_cold(&signpost, "foreign");
    for file in files {
        fs::remove_file(file).expect("deleted");
    }
    check_cold(&signpost, "missing");
    signpost.restart();
    inject_faults(&signpost, "catalog");
    for query in ["rid=410271&app=10000001&user_id=u-1", "rid=unknown&app=10000001&user_id=u-1"] {
        let answer = signpost.click(query, "DE").expect_error(503, "unavailable");
        assert!(answer.header("Retry-After").is_some(), "{answer:?}");
    }
}

#[test]
fn an_isolate_serves_from_its_shards_while_newer_ones_cannot_be_loaded() {
    let signpost = started();
    let own = click(&signpost).expect(302).location().to_owned();
    let host = |location: &str| location.split('/').nth(2).unwrap_or_default().to_owned();
    let mut app = signpost.operator("GET", &format!("apps/{ANDROID_APP}"), None).expect(200).json();
    app.as_object_mut().expect("an app").retain(|member, _| !["app_id", "terms_revision"].contains(&member.as_str()));
    app["name"] = json!("Renamed");
    let before = shards(&signpost);
    signpost.put(&format!("apps/{ANDROID_APP}"), &app);
    // The pointer in KV names a new shard, which is late.
    let published = || pointer(&signpost).manifest;
    let old = published();
    while published() == old {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    inject_faults(&signpost, "catalog");
    for new in shards(&signpost).into_iter().filter(|file| !before.contains(file)) {
        fs::remove_file(new).expect("deleted");
    }
    for _ in 0..5 {
        let location = click(&signpost).expect(302).location().to_owned();
        assert_eq!(host(&location), host(&own));
    }
}

#[test]
fn a_manifest_of_another_time_is_not_mistaken() {
    let signpost = started();
    let fresh = pointer(&signpost);
    signpost.put_offer("later", &json!({}));
    signpost.refresh();
    let later = || signpost.click(&format!("rid=later-g&app={ANDROID_APP}&user_id=u-1"), "DE");
    later().expect(302);
    let newest = pointer(&signpost);

    // From the past, as KV may show it elsewhere: a warm isolate keeps its own, and a cold one asks the catalog.
    set_pointer(&signpost, &fresh);
    for _ in 0..3 {
        later().expect(302);
    }
    for fault in ["catalog", ""] {
        signpost.restart();
        inject_faults(&signpost, fault);
        click(&signpost).expect(302);
        match fault {
            "" => drop(later().expect(302)),
            _ => drop(later().expect_error(503, "unavailable")),
        }
    }

    // From the future: another version of Signpost wrote its format.
    let mut future = newest.clone();
    future.manifest[5] += 1;
    set_pointer(&signpost, &future);
    signpost.restart();
    click(&signpost).expect(302);
    later().expect(302);
    signpost.restart();
    inject_faults(&signpost, "catalog");
    click(&signpost).expect_error(503, "unavailable");
    inject_faults(&signpost, "");

    // From the future: its shards are not in KV yet.
    let manifest = Manifest::open(newest.manifest.clone()).expect("a manifest");
    let ahead = Pointer {
        manifest: Manifest::build(manifest.version() + 1, manifest.built_at_ms(), &[vec![1], vec![2], vec![3]]),
        ..newest
    };
    set_pointer(&signpost, &ahead);
    signpost.restart();
    click(&signpost).expect(302);
    later().expect(302);

    // A pointer with twice as many slots. KV has none of them.
    let split = Pointer {
        manifest: Manifest::build(
            manifest.version() + 2,
            manifest.built_at_ms(),
            &[vec![1], vec![2, 3], vec![4, 5, 6, 7]],
        ),
        ..ahead
    };
    set_pointer(&signpost, &split);
    for _ in 0..2 {
        click(&signpost).expect(302);
        later().expect(302);
        signpost.restart();
    }
}
