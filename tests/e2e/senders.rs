//! Additions that senders make to values: a byte order mark before JSON, an encoding of the body, blanks around
//! credentials and ids, slashes in a path. The tests use both Workers' route tables, so they cover new routes, too.

use std::{collections::BTreeMap, thread, time::Duration};

use serde_json::{Value, json};

use crate::{
    console, dashboard,
    harness::{
        Answer, CONVERSION, METRICS_TOKEN, OPERATOR_TOKEN, OfferWall, Setup, Signpost, answer_to, dashboard_document,
        document, escaped, gzip,
    },
};
use contract::origin::TEST_PAGE;
use origin::http::routes::{OPERATOR, routes};
use platform::http::router::{Interface, Route, RouteName};

const PUBLISHER: &str = "senders";
const APP: &str = "79000910";
const TEST_ICON: &str = "/v2/tracking/test.svg";
const UNKNOWN: &str = "0123456789abcdef";
const JSON: &str = "application/json";
/// The routes that are called without credentials.
const PUBLIC: [&str; 8] =
    ["/v2/tracking/click", CONVERSION, TEST_PAGE, TEST_ICON, "/healthz", "/openapi.json", "/dashboard", "/console"];

const FACTS_HEAD: &str =
    "date,app_id,country,placement_id,ad_tag,demand_source,sdk_v,ad_requests,ad_responses,impressions,clicks,revenue\n";
const FACTS_ROW: &str = "2026-02-01,79000910,DE,home,tag,source,1,1,1,1,1,1\n";

/// A method of a route.
#[derive(Clone, Copy, Debug)]
struct Row {
    interface: Interface,
    name: RouteName,
    pattern: &'static str,
    method: &'static str,
}

fn rows() -> Vec<Row> {
    let edges = edge::routes::ROUTES.iter().flat_map(rows_of);
    let rows: Vec<_> = edges.chain(routes().flat_map(rows_of)).collect();
    assert!(rows.len() > 120, "{}", rows.len());
    rows
}

fn rows_of<H, P>(route: &'static Route<H, P>) -> impl Iterator<Item = Row> {
    route.methods.iter().map(|served| Row {
        interface: route.interface,
        name: route.name,
        pattern: route.pattern,
        method: served.method.as_str(),
    })
}

impl Row {
    /// The path with these ids, by the name before each; any other is unknown.
    fn path(self, ids: &BTreeMap<&str, String>) -> String {
        let mut path = String::new();
        let mut before = "";
        for segment in self.pattern.split('/').skip(1) {
            let id = ids.get(before).map_or(UNKNOWN, String::as_str);
            path.push('/');
            path.push_str(if segment == "{}" { id } else { segment });
            before = segment;
        }
        path
    }

    /// Whether the document says that the body may be of this media type.
    fn takes(self, documents: &[Value], media_type: &str) -> bool {
        documents.iter().any(|document| {
            let mut paths = document["paths"].as_object().unwrap().keys();
            let is_it = |path: &&String| {
                let names = path.split('/').map(|name| if name.starts_with('{') { "{}" } else { name });
                names.eq(self.pattern.split('/'))
            };
            paths.find(is_it).is_some_and(|path| {
                let method = self.method.to_lowercase();
                let body = format!("/paths/{}/{method}/requestBody/content", escaped(path));
                let content = document.pointer(&body);
                content.is_some_and(|content| content.get(media_type).is_some())
            })
        })
    }

    fn is_public(self) -> bool {
        let is_page =
            matches!(self.name, RouteName::Dashboard | RouteName::Console) && !self.pattern.starts_with("/v1/");
        is_page || PUBLIC.contains(&self.pattern)
    }
}

/// The credentials of every interface.
struct Senders<'s> {
    pub_key: String,
    report_key: String,
    privacy_key: String,
    rewards_key: String,
    test_key: String,
    owner: dashboard::Browser<'s>,
    /// The cookies of the dashboard and of the console: a session, and the use of a passkey that has begun.
    cookies: [String; 2],
}

impl<'s> Senders<'s> {
    fn new(signpost: &'s Signpost) -> (Self, OfferWall<'s>) {
        let wall = signpost.offer_wall(PUBLISHER, APP, None);
        let pub_key = signpost.issue_pub_key(PUBLISHER);
        signpost.refresh();
        let publisher = signpost.existing_publisher(PUBLISHER);
        let owner = dashboard::signed_in(signpost, &publisher, "owner");
        let admin = console::signed_in(signpost, "The sender", "admin");
        let begin = |site: &str, session: &Option<String>| {
            let page = [
                ("Host", dashboard::HOST),
                ("Sec-Fetch-Site", "same-origin"),
                ("Origin", dashboard::ORIGIN),
                ("Content-Type", JSON),
            ];
            let begun = signpost.send("POST", &format!("/v1/{site}/passkeys/request"), &page, b"{}");
            let begun = begun.expect(200);
            let (cookie, _) = begun.header("Set-Cookie").unwrap().split_once(';').unwrap();
            format!("{}; {cookie}", session.as_deref().unwrap())
        };
        let senders = Self {
            cookies: [begin("dashboard", &owner.cookie), begin("console", &admin.cookie)],
            pub_key,
            report_key: publisher.create_key("senders").api_key,
            privacy_key: publisher.create_key_for("ia-privacy.WRITE", "senders").api_key,
            rewards_key: publisher.create_key_for("ia-rewards.READ", "senders").api_key,
            test_key: publisher.create_key_for("ia-test.WRITE", "senders").api_key,
            owner,
        };
        (senders, wall)
    }

    /// The credentials and ids that a route of an interface reads from headers. A call of the operator may also have a
    /// session.
    fn credentials(&self, row: Row, is_visited: bool) -> Vec<(&'static str, String)> {
        let key = ("Idempotency-Key", "a-key".to_owned());
        let [of_dashboard, of_console] = &self.cookies;
        let of_page = |cookie: &String| {
            let cookie = ("Cookie", cookie.clone());
            let site = ("Sec-Fetch-Site", "same-origin".to_owned());
            vec![cookie, site, ("Origin", dashboard::ORIGIN.to_owned()), key.clone()]
        };
        match row.name {
            _ if row.is_public() => Vec::new(),
            RouteName::Offers => vec![("App-Id", APP.to_owned()), ("Pub-Key", self.pub_key.clone())],
            RouteName::Report | RouteName::Changes => vec![("X-Api-Key", self.report_key.clone())],
            RouteName::Users => vec![("X-Api-Key", self.privacy_key.clone())],
            RouteName::Rewards => vec![("X-Api-Key", self.rewards_key.clone())],
            RouteName::TestApps => vec![("X-Api-Key", self.test_key.clone())],
            RouteName::Dashboard => {
                let shown = ("X-Publisher", PUBLISHER.to_owned());
                [of_page(of_dashboard), vec![shown]].concat()
            }
            RouteName::Console => of_page(of_console),
            RouteName::Operator if is_visited => of_page(of_console),
            RouteName::Health => vec![("Authorization", format!("Bearer {METRICS_TOKEN}"))],
            _ => vec![("Authorization", format!("Bearer {OPERATOR_TOKEN}")), key],
        }
    }
}

fn send(signpost: &Signpost, row: Row, path: &str, headers: &[(&str, String)], body: &[u8]) -> Answer {
    let mut sent = vec![("Host", dashboard::HOST)];
    sent.extend(headers.iter().map(|(name, value)| (*name, value.as_str())));
    let answer = signpost.send(row.method, path, &sent, body);
    let is_keyed = headers.iter().any(|(name, _)| *name == "X-Api-Key");
    if is_keyed && answer.status == 429 {
        // How long a key waits between two requests depends on its scope.
        let wait_s = answer.header("Retry-After").unwrap().parse().unwrap();
        thread::sleep(Duration::from_secs(wait_s));
        return signpost.send(row.method, path, &sent, body);
    }
    answer
}

/// Each row that takes JSON, with what is sent besides a body; a call of the operator as a program and as a page.
fn json_rows(senders: &Senders<'_>) -> Vec<(Row, Vec<(&'static str, String)>)> {
    let documents = [document(), dashboard_document()];
    let rows = rows().into_iter().filter(|row| row.takes(&documents, JSON));
    let rows = rows.flat_map(|row| {
        let visits: &[bool] = if row.name == RouteName::Operator { &[false, true] } else { &[false] };
        visits.iter().map(move |is_visited| (row, *is_visited))
    });
    let rows = rows.map(|(row, is_visited)| {
        let mut headers = senders.credentials(row, is_visited);
        headers.extend([("Content-Type", JSON.to_owned()), ("If-Match", "\"1\"".to_owned())]);
        (row, headers)
    });
    let rows: Vec<_> = rows.collect();
    assert!(rows.len() > 60, "{}", rows.len());
    rows
}

fn known_ids() -> BTreeMap<&'static str, String> {
    let mine = ["publishers", "advertisers", "offers"].map(|name| (name, PUBLISHER.to_owned()));
    mine.into_iter().chain([("apps", APP.to_owned())]).collect()
}

#[test]
fn json_after_a_byte_order_mark_is_read_and_an_encoded_body_is_refused() {
    let signpost = Setup::new().start();
    let (senders, wall) = Senders::new(&signpost);
    // Some calls know an app by its rewards alone.
    wall.pay("user-1");
    for (row, headers) in json_rows(&senders) {
        let path = row.path(&known_ids());
        let send = |headers: &[_], body: &[u8]| send(&signpost, row, &path, headers, body);
        // The call reads a body with these ids.
        let broken = send(&headers, b"{").expect(400).code();
        assert!(["invalid_json", "invalid_batch"].contains(&broken.as_str()), "{row:?}: {broken}");
        let whole = if broken == "invalid_batch" { r#"{"queries":[{}]}"# } else { "{}" };
        let marked = send(&headers, format!("\u{feff}{whole}").as_bytes());
        if marked.status >= 400 {
            // The text is refused for its content, not for the mark before it.
            assert_eq!(marked.body, send(&headers, whole.as_bytes()).body, "{row:?}");
        }
        for (encoding, body) in [("gzip", gzip(b"{}")), ("BR", b"{}".to_vec())] {
            let encoded = [headers.as_slice(), &[("Content-Encoding", encoding.to_owned())]].concat();
            let refused = send(&encoded, &body).expect_error(415, "unsupported_media_type");
            assert!(refused.body.contains("Content-Encoding"), "{row:?}: {refused:?}");
        }
        let plain = [headers.as_slice(), &[("Content-Encoding", " Identity ".to_owned())]].concat();
        send(&plain, b"{").expect_error(400, &broken);
    }
    let documents = [document(), dashboard_document()];
    let form = "application/x-www-form-urlencoded";
    let forms: Vec<_> = rows().into_iter().filter(|row| row.takes(&documents, form)).collect();
    assert_eq!(forms.len(), 2);
    for row in forms {
        let headers = [("Content-Type", form), ("Content-Encoding", "gzip")];
        let headers = headers.map(|(name, value)| (name, value.to_owned()));
        let refused = send(&signpost, row, row.pattern, &headers, &gzip(b"click_id=x"));
        refused.expect_error(415, "unsupported_media_type");
    }
}

#[test]
fn lines_after_a_byte_order_mark_are_read_and_only_facts_may_be_encoded() {
    let signpost = Setup::new().start();
    let (senders, _) = Senders::new(&signpost);
    let documents = [document(), dashboard_document()];
    let publisher = json!({"kind": "publisher", "id": PUBLISHER, "name": "Senders", "approved": true});
    let mut seen = 0;
    // A page of a copy is sent as it was read, because its checksum is in it.
    for row in rows().into_iter().filter(|row| !row.pattern.ends_with("/copy")) {
        let Some(media_type) =
            ["text/csv", "application/x-ndjson"].into_iter().find(|media_type| row.takes(&documents, media_type))
        else {
            continue;
        };
        seen += 1;
        let mut ids = known_ids();
        ids.insert("facts", "2026-02-01".to_owned());
        let path = row.path(&ids);
        let body = match media_type {
            "text/csv" => format!("{FACTS_HEAD}{FACTS_ROW}"),
            _ => publisher.to_string(),
        };
        for is_visited in [false, true] {
            let mut headers = senders.credentials(row, is_visited);
            headers.push(("Content-Type", media_type.to_owned()));
            let with = |encoding: &str| [headers.as_slice(), &[("Content-Encoding", encoding.to_owned())]].concat();
            let marked = format!("\u{feff}{body}");
            send(&signpost, row, &path, &headers, marked.as_bytes()).expect(200);
            let packed = send(&signpost, row, &path, &with(" gzip "), &gzip(marked.as_bytes()));
            match media_type {
                "text/csv" => drop(packed.expect(200)),
                _ => drop(packed.expect_error(415, "unsupported_media_type")),
            }
            let refused = send(&signpost, row, &path, &with("br"), body.as_bytes());
            let refused = refused.expect_error(415, "unsupported_media_type");
            assert!(refused.body.contains("not br"), "{refused:?}");
        }
    }
    assert_eq!(seen, 3);
}

#[test]
fn blanks_around_a_credential_change_no_answer() {
    let signpost = Setup::new().start();
    let (senders, _) = Senders::new(&signpost);
    let documents = [document(), dashboard_document()];
    let mut tried = 0;
    for row in rows() {
        // It would end the session.
        if row.pattern.ends_with("/sign_out") {
            continue;
        }
        for is_visited in [false, true] {
            let mut headers = senders.credentials(row, is_visited);
            if headers.is_empty() || is_visited && row.name != RouteName::Operator {
                continue;
            }
            let takes_body = row.takes(&documents, JSON);
            let body: &[u8] = if takes_body { b"{}" } else { b"" };
            headers.push(("If-Match", "\"1\"".to_owned()));
            let json = ("Content-Type", JSON.to_owned());
            let path = row.path(&BTreeMap::new());
            let answers = ["", " \t "].map(|blanks| {
                let surround = |(name, value): &(&'static str, String)| match name {
                    &"Authorization" => {
                        (*name, format!("{blanks}{}{blanks}", value.replace(' ', &format!(" {blanks}"))))
                    }
                    _ => (*name, format!("{blanks}{value}{blanks}")),
                };
                let mut headers: Vec<_> = headers.iter().map(surround).collect();
                headers.push(json.clone());
                let answer = send(&signpost, row, &path, &headers, body);
                let has_code = answer.status >= 400 && !answer.body.is_empty();
                (answer.status, has_code.then(|| answer.code()))
            });
            let [plain, padded] = &answers;
            assert!(!matches!(plain.0, 401 | 403 | 421), "{row:?}: {answers:?}");
            assert_eq!(plain, padded, "{row:?}");
            tried += 1;
        }
    }
    assert!(tried > 150, "{tried}");
}

#[test]
fn a_padded_revision_or_key_is_the_same_one() {
    let signpost = Setup::new().start();
    let (senders, _) = Senders::new(&signpost);
    let tag = |answer: Answer| answer.expect(200).header("ETag").unwrap().to_owned();
    let path = format!("publishers/{PUBLISHER}");
    let read = tag(signpost.operator("GET", &path, None));
    let put = |tag: &str, name: &str| {
        let body = json!({"name": name, "approved": true}).to_string();
        signpost.operate("PUT", &path, &[("If-Match", &format!(" {tag} \t"))], body.as_bytes())
    };
    put(&read, "Padded").expect(200);
    put(&read, "Padded again").expect_error(412, "precondition_failed");
    let app = Row {
        interface: Interface::Dashboard,
        name: RouteName::Dashboard,
        pattern: "/v1/dashboard/apps/{}",
        method: "PATCH",
    };
    let read = tag(senders.owner.get(&format!("apps/{APP}")));
    let mut headers = senders.credentials(app, false);
    headers.extend([("Content-Type", JSON.to_owned()), ("If-Match", format!("\t{read} "))]);
    send(&signpost, app, &app.path(&known_ids()), &headers, b"{\"name\": \"Padded\"}").expect(200);
    let add = |key: &str| {
        let headers = [("Idempotency-Key", key), ("Content-Type", "text/csv")];
        let body = format!("{FACTS_HEAD}{FACTS_ROW}");
        signpost.operate("POST", &format!("publishers/{PUBLISHER}/facts"), &headers, body.as_bytes()).expect(200).body
    };
    // The answer to a repeated batch says that it is a duplicate.
    add("one-batch");
    assert_eq!(add("one-batch"), add(" one-batch\t"));
}

#[test]
fn blanks_around_an_id_in_a_path_a_query_or_a_body_change_no_answer() {
    let signpost = Setup::new().start();
    let (senders, wall) = Senders::new(&signpost);
    let mut ids = known_ids();
    ids.insert("conversions", wall.pay("user-1"));
    let mut found = 0;
    for row in rows() {
        let is_page = !row.pattern.starts_with("/v1/");
        if row.method != "GET" || !row.pattern.contains("{}") || is_page {
            continue;
        }
        let headers = senders.credentials(row, false);
        let padded = ids.iter().map(|(name, id)| (*name, format!("%20{id}%20%0d%0A")));
        let padded: BTreeMap<_, _> = padded.collect();
        let answers = [&ids, &padded].map(|ids| send(&signpost, row, &row.path(ids), &headers, b"").status);
        assert_eq!(answers[0], answers[1], "{row:?}");
        found += usize::from(answers[0] == 200);
    }
    assert!(found > 10, "{found}");
    for (path, id) in
        [("reconcile?date=2026-02-01&app=", APP), ("attention?app_id=", APP), ("apps?publisher_id=", PUBLISHER)]
    {
        let ask = |id: &str| {
            let answer = signpost.operator("GET", &format!("{path}{id}"), None);
            answer.expect(200).json()
        };
        assert_eq!(ask(id), ask(&format!("%20{id}%0D%0A")), "{path}");
    }
    let of_user = |id: &str| {
        let answer = wall.operator("POST", "conversions", Some(&json!({ "user_id": id })));
        answer.expect(200).json()
    };
    assert_eq!(of_user(" user-1\r\n"), of_user("user-1"));
    assert_eq!(wall.erase(" user-1\r\n")["erased"], 1);
    let padded = json!({ "name": "Padded", "publisher_id": format!(" {PUBLISHER}\n"), "platform": "android",
        "currency": { "name": "Coins", "per_usd": 1, "decimals": 0, "rounding": "down" } });
    signpost.operator("PUT", "apps/79000911", Some(&padded)).expect(200);
}

#[test]
fn a_tracking_url_with_other_slashes_is_answered_as_the_right_one() {
    let signpost = Setup::new().start();
    let (_, wall) = Senders::new(&signpost);
    let click_id = wall.click_id("user-1");
    let goal = wall.goal("1");
    let queries = BTreeMap::from([
        ("/v2/tracking/click", format!("rid={goal}&app={APP}&user_id=user-1")),
        (CONVERSION, format!("click_id={click_id}&token={}", wall.token)),
    ]);
    wall.convert(&click_id, "").expect(200);
    let status = |method: &str, path: &str, query: &str| {
        let request = format!(
            "{method} {path}?{query} HTTP/1.1\r\nHost: localhost\r\nCF-IPCountry: DE\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        let answer = answer_to(&signpost.base(), request.as_bytes());
        answer.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    let mut tried = 0;
    for row in rows() {
        // Nobody types a test page's address into settings: the address comes with a click.
        if row.interface != Interface::Tracking || row.name == RouteName::TestPage {
            continue;
        }
        let query = &queries[row.pattern];
        let right = status(row.method, row.pattern, query);
        assert!(["302", "200"].contains(&right.as_str()), "{row:?}: {right}");
        for path in [
            format!("{}/", row.pattern),
            format!("/{}", row.pattern),
            format!("//{}//", row.pattern),
            row.pattern.replace("/tracking", "//tracking"),
        ] {
            assert_eq!(status(row.method, &path, query), right, "{path}");
            tried += 1;
        }
    }
    assert!(tried >= 16, "{tried}");
    // Other paths are exact, because the beginning of a path decides what it may reach.
    for path in ["//v1/operator/publishers", "/healthz/", "//v1/offer/api"] {
        assert_eq!(status("GET", path, ""), "404", "{path}");
    }
    assert_eq!(OPERATOR, "/v1/operator/");
}
