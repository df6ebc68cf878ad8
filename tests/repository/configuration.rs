//! Both Workers are configured alike in `fixtures/local/workerd.capnp`, which local runs use, and in the two
//! `wrangler.toml`, which Cloudflare gets; and wrangler accepts what it gets.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    net::TcpListener,
    os::unix::{fs::symlink, process::CommandExt},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use crate::{read, root, sources};

const EDGE: &str = "wrangler.toml";
const ORIGIN: &str = "src/origin/wrangler.toml";

/// The secrets of each Worker, which are named in a comment of its `wrangler.toml` and set by `make secrets`.
const SECRETS: [(&str, &[&str]); 2] = [
    (EDGE, &["METRICS_TOKEN", "CLICK_KEYS", "EDGE_KEYS", "REPORT_KEY_MAC", "TOKEN_MAC"]),
    (
        ORIGIN,
        &[
            "OPERATOR_TOKEN",
            "METRICS_TOKEN",
            "STORE_KEYS",
            "EDGE_KEYS",
            "REPORT_KEY_MAC",
            "TOKEN_MAC",
            "CLICK_KEYS",
            "ACCOUNT_MAC",
        ],
    ),
];

fn wrangler(path: &str) -> toml::Table {
    read(path).parse().unwrap()
}

/// The part of `workerd.capnp` that starts with this line, up to the next constant.
fn part(capnp: &str, start: &str) -> String {
    let (_, rest) = capnp.split_once(start).unwrap_or_else(|| panic!("no {start}"));
    rest.split("\nconst ").next().unwrap().to_owned()
}

/// The text between `before` and `after`, for each line that has both.
fn between<'t>(text: &'t str, before: &str, after: &str) -> BTreeSet<&'t str> {
    let found = |line: &'t str| Some(line.split_once(before)?.1.split_once(after)?.0);
    text.lines().filter(|line| !line.trim_start().starts_with('#')).filter_map(found).collect()
}

fn bindings(capnp: &str, worker: &str) -> String {
    part(capnp, &format!("const {worker}Bindings :"))
}

/// Each binding of a list of tables: its name, and what else it says.
fn tables(value: &toml::Value, name: &str) -> BTreeMap<String, toml::Table> {
    let tables = value.as_array().unwrap().iter().map(|item| item.as_table().unwrap());
    tables.map(|table| (table[name].as_str().unwrap().to_owned(), table.clone())).collect()
}

/// The two environments of a `wrangler.toml`: local and production.
fn environments(wrangler: &toml::Table) -> [&toml::Table; 2] {
    [wrangler, wrangler["env"]["production"].as_table().unwrap()]
}

#[test]
fn each_worker_has_the_same_bindings_locally_and_on_cloudflare() {
    let capnp = read("fixtures/local/workerd.capnp");
    for (path, worker) in [(EDGE, "edge"), (ORIGIN, "origin")] {
        let local = bindings(&capnp, worker);
        let local: BTreeSet<_> = local
            .lines()
            .filter(|line| !line.contains("fromEnvironment"))
            .filter_map(|line| Some(line.split_once("(name = \"")?.1.split_once('"')?.0))
            .collect();
        let wrangler = wrangler(path);
        for environment in environments(&wrangler) {
            let mut names: BTreeSet<_> = tables(&environment["durable_objects"]["bindings"], "name")
                .into_keys()
                .chain(tables(&environment["kv_namespaces"], "binding").into_keys())
                .collect();
            if let Some(services) = environment.get("services") {
                names.extend(tables(services, "binding").into_keys());
            }
            assert_eq!(names, local.iter().map(|name| (*name).to_owned()).collect(), "{path}");
        }
    }
}

#[test]
fn the_edge_binds_the_objects_and_the_service_of_the_origin() {
    let (edge, origin) = (wrangler(EDGE), wrangler(ORIGIN));
    for (edge, origin) in environments(&edge).into_iter().zip(environments(&origin)) {
        let there = &origin["name"];
        for (name, mut binding) in tables(&edge["durable_objects"]["bindings"], "name") {
            assert_eq!(binding.remove("script_name").as_ref(), Some(there), "{name}");
            assert_eq!(tables(&origin["durable_objects"]["bindings"], "name")[&name], binding);
        }
        assert_eq!(&tables(&edge["services"], "binding")["ORIGIN"]["service"], there);
        assert_eq!(edge["kv_namespaces"], origin["kv_namespaces"]);
    }
}

#[test]
fn the_origin_creates_every_class_of_object() {
    let capnp = read("fixtures/local/workerd.capnp");
    let local = part(&capnp, "const namespaces :");
    let local = between(&local, "(className = \"", "\"");
    let (edge, origin) = (wrangler(EDGE), wrangler(ORIGIN));
    assert!(!edge.contains_key("migrations"), "the objects are the origin's");
    let migrations = origin["migrations"].as_array().unwrap();
    let created: BTreeSet<_> = migrations
        .iter()
        .flat_map(|migration| migration["new_sqlite_classes"].as_array().unwrap())
        .map(|class| class.as_str().unwrap())
        .collect();
    assert_eq!(created, local);
}

#[test]
fn the_runtime_is_of_the_same_date_and_flags_everywhere() {
    let capnp = read("fixtures/local/workerd.capnp");
    for path in [EDGE, ORIGIN] {
        let wrangler = wrangler(path);
        let date = wrangler["compatibility_date"].as_str().unwrap();
        assert_eq!(between(&capnp, "compatibilityDate = \"", "\""), BTreeSet::from([date]));
        let flags = wrangler["compatibility_flags"].as_array().unwrap().iter();
        let flags: Vec<_> = flags.map(|flag| format!("{:?}", flag.as_str().unwrap())).collect();
        let local = format!("compatibilityFlags = [{}]", flags.join(", "));
        assert_eq!(capnp.matches(&local).count(), 2, "{path}: {local}");
    }
}

#[test]
fn each_setting_of_a_worker_is_bound_locally_and_read_by_its_code() {
    let capnp = read("fixtures/local/workerd.capnp");
    for (path, worker) in [(EDGE, "edge"), (ORIGIN, "origin")] {
        let local = bindings(&capnp, worker);
        let settings = between(&local, "fromEnvironment = \"", "\"");
        let code: String = ["src/domain", "src/platform", &format!("src/{worker}")]
            .into_iter()
            .flat_map(sources)
            .map(|path| fs::read_to_string(path).unwrap())
            .chain((worker == "edge").then(|| read("src/edge/entry.js")))
            .collect();
        for setting in &settings {
            let is_read = [format!("\"{setting}\""), format!("env.{setting}")];
            assert!(is_read.iter().any(|text| code.contains(text)), "{worker}: nothing reads {setting}");
        }
        for environment in environments(&wrangler(path)) {
            for name in environment["vars"].as_table().unwrap().keys() {
                assert!(settings.contains(name.as_str()), "{path}: {name} is not a setting of local runs");
            }
        }
    }
}

#[test]
fn each_wrangler_names_the_secrets_of_its_worker_and_stores_none() {
    for (path, secrets) in SECRETS {
        let text = read(path);
        for secret in [
            "OPERATOR_TOKEN",
            "METRICS_TOKEN",
            "CLICK_KEYS",
            "STORE_KEYS",
            "EDGE_KEYS",
            "REPORT_KEY_MAC",
            "TOKEN_MAC",
            "ACCOUNT_MAC",
        ] {
            let lines: Vec<_> = text.lines().filter(|line| line.contains(secret)).collect();
            let stored = lines.iter().any(|line| !line.starts_with('#'));
            assert!(!stored, "{path} stores {secret}: {lines:?}");
            assert_eq!(!lines.is_empty(), secrets.contains(&secret), "{path}: {secret}");
        }
    }
}

#[test]
fn cloudflare_logs_no_line_of_its_own_with_the_address_of_each_request() {
    for path in [EDGE, ORIGIN] {
        let observability = &wrangler(path)["env"]["production"]["observability"];
        assert_eq!(observability["enabled"].as_bool(), Some(true), "{path}");
        assert_eq!(observability["logs"]["enabled"].as_bool(), Some(true), "{path}");
        assert_eq!(observability["logs"]["invocation_logs"].as_bool(), Some(false), "{path}");
    }
}

/// The fuzz targets are a workspace of their own. Its lock file is used with `--locked`, so it must list every
/// dependency that our crates add.
#[test]
fn the_lock_file_of_the_fuzz_targets_has_the_crates_that_ours_need() {
    let lock: toml::Table = read("tests/fuzz/Cargo.lock").parse().unwrap();
    let packages = lock["package"].as_array().unwrap();
    for fuzzed in ["domain", "contract", "platform", "origin"] {
        let is_it = |package: &&toml::Value| package["name"].as_str() == Some(&format!("signpost-{fuzzed}"));
        let package = packages.iter().find(is_it).unwrap_or_else(|| panic!("no {fuzzed}"));
        let locked: BTreeSet<_> = package["dependencies"]
            .as_array()
            .unwrap()
            .iter()
            // With its version, where there are several.
            .map(|name| name.as_str().unwrap().split(' ').next().unwrap())
            .collect();
        let manifest: toml::Table = read(&format!("src/{fuzzed}/Cargo.toml")).parse().unwrap();
        for name in manifest["dependencies"].as_table().unwrap().keys() {
            let is_there = [name.clone(), format!("signpost-{name}")].iter().any(|name| locked.contains(name.as_str()));
            assert!(is_there, "{fuzzed} needs {name}: update tests/fuzz/Cargo.lock");
        }
    }
}

/// The glue that one version of wasm-bindgen writes does not fit a module of another.
#[test]
fn the_glue_is_of_the_version_of_the_modules() {
    let manifest = |path: &str| read(path).parse::<toml::Table>().unwrap();
    assert_eq!(
        manifest("src/bundle/Cargo.toml")["dependencies"]["wasm-bindgen-cli-support"],
        manifest("Cargo.toml")["workspace"]["dependencies"]["wasm-bindgen"]
    );
}

/// Everything that `make deploy` does but the upload.
#[test]
fn wrangler_accepts_both_workers() {
    for (path, binding) in [(EDGE, "env.ORIGIN"), (ORIGIN, "env.CATALOG")] {
        let bundle = tempfile::tempdir().unwrap();
        let deployed = Command::new("node_modules/.bin/wrangler")
            .args(["deploy", "--dry-run", "--env", "production", "--config", path, "--outdir"])
            .arg(bundle.path())
            .env("WRANGLER_SEND_METRICS", "false")
            .env_remove("MAKEFLAGS")
            .current_dir(root())
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&deployed.stdout);
        assert!(deployed.status.success(), "{path}: {told}\n{}", String::from_utf8_lossy(&deployed.stderr));
        assert!(told.contains(binding), "{path}: {told}");
        let files = fs::read_dir(bundle.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let files: BTreeSet<_> = files.map(|name| name.into_string().unwrap()).collect();
        assert!(files.contains("entry.js") && files.iter().any(|name| name.ends_with(".wasm")), "{files:?}");
    }
}

/// `wrangler dev` of docs/OPERATING.md ("Running locally"), which needs both configurations and a `.dev.vars` for each.
#[test]
fn wrangler_dev_serves_both_workers() {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    fs::create_dir_all(at("src/origin")).unwrap();
    symlink(root().join("build"), at("build")).unwrap();
    for (path, secrets) in [(EDGE, ".dev.vars"), (ORIGIN, "src/origin/.dev.vars")] {
        // The modules are built, and there is no Makefile here.
        fs::write(at(path), read(path).replace("command = \"make build\"", "")).unwrap();
        fs::copy(root().join("fixtures/local/defaults.env"), at(secrets)).unwrap();
    }
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let log = File::create(at("log")).unwrap();
    let wrangler = Command::new(root().join("node_modules/.bin/wrangler"))
        .args(["dev", "-c", EDGE, "-c", ORIGIN, "--ip", "127.0.0.1"])
        .args(["--port", &port.to_string(), "--show-interactive-dev-session=false"])
        .env("WRANGLER_SEND_METRICS", "false")
        // Stops wrangler from asking a server for the place where it runs.
        .env("NODE_ENV", "test")
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .process_group(0)
        .spawn()
        .unwrap();
    let _group = Group(wrangler);
    let send = |method: &str, path: &str, body: &str| {
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("http://127.0.0.1:{port}{path}"))
            .header("Authorization", "Bearer local-operator-token")
            .header("Content-Type", "application/x-ndjson");
        let agent: ureq::Agent =
            ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0).build().into();
        agent.run(request.body(body.to_owned()).unwrap()).map(|answer| answer.status().as_u16())
    };
    let answers = |expected: u16, method: &str, path: &str, body: &str| {
        let mut last = None;
        for _ in 0..300 {
            last = send(method, path, body).ok();
            if last == Some(expected) {
                return;
            }
            thread::sleep(Duration::from_millis(100));
        }
        panic!("{method} {path}: {last:?}\n{}", fs::read_to_string(at("log")).unwrap());
    };
    answers(200, "POST", "/v1/operator/import", &read("fixtures/catalog.ndjson"));
    answers(200, "POST", "/v1/operator/refresh", "");
    answers(302, "GET", "/v2/tracking/click?rid=410271&app=10000001&user_id=u-1", "");
}

/// A process and those that it started, which end with it.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        let group = format!("-{}", self.0.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.0.wait();
    }
}
