//! Fault injection for test builds (`--features faults`): a test can make one of the marked points panic, to show that
//! a panic costs one request and nothing else. In any other build [`inject`] does nothing.

/// A point that panics if a test has armed it. `when` and `what` identify it.
#[inline]
pub fn inject(when: &'static str, what: &str) {
    #[cfg(feature = "faults")]
    armed::inject(when, what);
    #[cfg(not(feature = "faults"))]
    let _ = (when, what);
}

#[cfg(feature = "faults")]
pub mod armed {
    //! The armed point, and the points that were passed. In a local run one WebAssembly instance serves a Worker and
    //! all its objects, so one request arms a point in all of them.

    use std::{cell::RefCell, collections::BTreeSet};

    use percent_encoding::percent_decode_str;
    use serde_json::{Value, json};

    /// The path of a test's commands, see [`command`].
    pub const PATH: &str = "/v1/signpost-faults";

    #[derive(Default)]
    struct Armed {
        when: String,
        what: String,
        left: u32,
        aborts: bool,
        fired: u32,
        passed: BTreeSet<String>,
    }

    thread_local! {
        static ARMED: RefCell<Armed> = RefCell::default();
    }

    pub fn inject(when: &'static str, what: &str) {
        let (fires, aborts) = ARMED.with_borrow_mut(|armed| {
            if armed.passed.len() < 10_000 {
                armed.passed.insert(format!("{when} {what}"));
            }
            let fires = armed.left > 0 && armed.when == when && what.starts_with(&armed.what);
            if fires {
                armed.left -= 1;
                armed.fired += 1;
            }
            (fires, armed.aborts)
        });
        #[cfg(target_arch = "wasm32")]
        if fires && aborts {
            core::arch::wasm32::unreachable();
        }
        #[cfg(not(target_arch = "wasm32"))]
        let _ = aborts;
        assert!(!fires, "a test asked for it: {when} {what}");
    }

    /// Returns how often the armed point has panicked.
    pub fn look() -> Value {
        json!({ "fired": ARMED.with_borrow(|armed| armed.fired) })
    }

    /// Makes a point panic, or abort, the next `times` times. Returns how often the previous point panicked, and the
    /// points passed since it was armed.
    pub fn set(when: String, what: String, times: u32, aborts: bool) -> Value {
        let last = ARMED.with_borrow_mut(|armed| {
            std::mem::replace(armed, Armed { when, what, left: times, aborts, ..Armed::default() })
        });
        json!({ "fired": last.fired, "passed": last.passed })
    }

    /// Carries out a test's command: `?look`, or `?when=…&what=…&times=…` with percent-encoded values,
    /// and `&abort=` for an abort in place of a panic.
    pub fn command(query: &str) -> Value {
        if query == "look" {
            return look();
        }
        let (mut when, mut what, mut times, mut aborts) = (String::new(), String::new(), 0, false);
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = percent_decode_str(value).decode_utf8_lossy().into_owned();
            match name {
                "when" => when = value,
                "what" => what = value,
                "abort" => aborts = true,
                _ => times = value.parse().unwrap_or(0),
            }
        }
        set(when, what, times, aborts)
    }
}
