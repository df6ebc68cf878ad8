//! Test builds only (`--features faults`): the places that work passes, one of which a test may have panic, so that it can
//! be seen that a panic costs one request and nothing else. In any other build [`pass`] is nothing at all.

/// Panics, if a test has asked for it here: `when` and `what` name the place.
#[inline]
pub fn pass(when: &'static str, what: &str) {
    #[cfg(feature = "faults")]
    armed::pass(when, what);
    #[cfg(not(feature = "faults"))]
    let _ = (when, what);
}

#[cfg(feature = "faults")]
pub mod armed {
    //! Which place panics next, and which were passed. One instance of WebAssembly serves the edge and all objects of a
    //! local run, so what a request of the test's own sets here holds for all of them.

    use std::{cell::RefCell, collections::BTreeSet};

    use percent_encoding::percent_decode_str;
    use serde_json::{Value, json};

    /// Where a test sets it: `?when=…&what=…&times=…`, all percent-encoded, answered with what came of the last one; or
    /// looks, `?look`.
    pub const PATH: &str = "/v1/signpost-faults";

    #[derive(Default)]
    struct Armed {
        when: String,
        what: String,
        left: u32,
        fired: u32,
        passed: BTreeSet<String>,
    }

    thread_local! {
        static ARMED: RefCell<Armed> = RefCell::default();
    }

    pub fn pass(when: &'static str, what: &str) {
        let fires = ARMED.with_borrow_mut(|armed| {
            if armed.passed.len() < 10_000 {
                armed.passed.insert(format!("{when} {what}"));
            }
            let fires = armed.left > 0 && armed.when == when && what.starts_with(&armed.what);
            if fires {
                armed.left -= 1;
                armed.fired += 1;
            }
            fires
        });
        assert!(!fires, "a test asked for it: {when} {what}");
    }

    /// How often the place that is set has panicked.
    pub fn look() -> Value {
        json!({ "fired": ARMED.with_borrow(|armed| armed.fired) })
    }

    /// Has the next to pass this place panic, so many times, and says how often the last place did and what was passed
    /// since it was set.
    pub fn set(when: String, what: String, times: u32) -> Value {
        let last = ARMED.with_borrow_mut(|armed| {
            std::mem::replace(
                armed,
                Armed {
                    when,
                    what,
                    left: times,
                    ..Armed::default()
                },
            )
        });
        json!({ "fired": last.fired, "passed": last.passed })
    }

    /// Carries out a test's query, `?look` or `?when=…&what=…&times=…`.
    pub fn command(query: &str) -> Value {
        if query == "look" {
            return look();
        }
        let (mut when, mut what, mut times) = (String::new(), String::new(), 0);
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = percent_decode_str(value).decode_utf8_lossy().into_owned();
            match name {
                "when" => when = value,
                "what" => what = value,
                _ => times = value.parse().unwrap_or(0),
            }
        }
        set(when, what, times)
    }
}
