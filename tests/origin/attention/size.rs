//! Objects that are filling up.

use super::*;
use crate::storage::Storage;
use domain::callbacks::request::Request;
use platform::{
    http_call::HttpCall,
    traits::{Http, Random, Sleep},
};
use url::Url;

#[test]
fn a_large_object_is_listed_until_it_has_shrunk_or_says_no_more() {
    let db = attention();
    let size = |at_ms, bytes| {
        let report = ObjectSize { source: "ledger-acme".into(), at_ms, bytes };
        handle(&db, NOW, Command::Size(report)).unwrap();
        let page = list(&db, all());
        let bytes = page["items"][0]["bytes"].as_i64();
        assert_eq!(page["counts"]["near_limit"], i64::from(bytes.is_some()));
        bytes
    };
    assert_eq!(size(NOW, NEARLY_FULL), None);
    assert_eq!(size(NOW + 1, NEARLY_FULL + 1), Some(NEARLY_FULL + 1));
    assert_eq!(size(NOW + 3, NEARLY_FULL + 2), Some(NEARLY_FULL + 2));
    assert_eq!(size(NOW + 2, NEARLY_FULL), Some(NEARLY_FULL + 2), "an old report");
    assert_eq!(list(&db, all())["items"][0]["since_ms"], NOW + 1);
    assert_eq!(size(NOW + 4, NEARLY_FULL), None);
    size(NOW + 5, NEARLY_FULL + 1);
    assert!(sweep::sweep(&db, NOW + DAY_MS).unwrap().is_some());
    assert_eq!(subjects(&list(&db, all())), ["ledger-acme"]);
    assert_eq!(sweep::sweep(&db, NOW + 3 * DAY_MS), Ok(None));
    assert!(subjects(&list(&db, all())).is_empty());
}

/// The calls that a large object makes.
struct Large {
    now_ms: Cell<i64>,
    told: RefCell<Vec<Json>>,
}

#[derive(Clone)]
struct Shared(Rc<Large>);

impl Clock for Shared {
    fn now_ms(&self) -> i64 {
        self.0.now_ms.get()
    }
}

impl ObjectCall for Shared {
    async fn call<O: Operation>(
        &self,
        to: &ObjectAddress,
        operation: O,
        _timeout: Duration,
    ) -> Result<O::Answer, CallError> {
        assert_eq!(to.name, "attention");
        self.0.told.borrow_mut().push(serde_json::to_value(operation.into()).unwrap());
        Ok(serde_json::from_value(json!({})).unwrap())
    }
}

/// It has no address for alarms, so it sends nothing.
impl Http for Shared {
    async fn send(&self, request: &Request, _timeout: Duration) -> HttpCall {
        panic!("{request:?}")
    }

    async fn opens(&self, url: &Url, _timeout: Duration) -> bool {
        panic!("{url}")
    }
}

impl Sleep for Shared {
    async fn sleep(&self, _time: Duration) {}
}

impl Random for Shared {
    fn random(&self) -> Result<[u8; 32], String> {
        Ok([7; 32])
    }
}

#[test]
fn a_large_object_tells_its_size_at_an_alarm_once_an_hour() {
    let db = Sqlite::in_memory();
    let storage = Storage::new(&db);
    let large = Shared(Rc::new(Large { now_ms: Cell::new(NOW), told: RefCell::default() }));
    let service = ActivityService::new(Some("activity-acme".into()), storage.clone(), large.clone(), |_| None);
    let wake = |minutes: i64, bytes| {
        large.0.now_ms.set(NOW + minutes * MINUTE_MS);
        storage.state.bytes.set(bytes);
        service.alarm().now_or_never().unwrap();
        large.0.told.take()
    };
    let told = |minutes: i64, bytes: i64| {
        vec![json!({"size": {"source": "activity-acme", "at_ms": NOW + minutes * MINUTE_MS, "bytes": bytes}})]
    };
    assert!(wake(0, 6_000_000_000).is_empty());
    assert_eq!(wake(1, NEARLY_FULL + 1), told(1, NEARLY_FULL + 1));
    assert!(wake(30, NEARLY_FULL + 2).is_empty());
    // It also reports that it has shrunk.
    assert_eq!(wake(61, NEARLY_FULL - 1), told(61, NEARLY_FULL - 1));
    assert!(wake(200, 6_000_000_000).is_empty());
}
