//! Reports this isolate's figures to the operator's `attention` ([`contract::isolates`]).

use std::{
    cell::{Cell, RefCell},
    time::Duration,
};

use contract::{
    attention,
    isolates::{Figure, IsolateMetrics, SentMetrics},
};

use crate::{
    http::traffic::{Count, memory_bytes},
    log, panics, runtime,
    traits::{Clock, ObjectCall},
};

/// The timeout of a report. It is short, since an object's alarm waits for the report.
const TIMEOUT: Duration = Duration::from_secs(2);
/// The memory in bytes from which an isolate reports its size. The maximum is 128 MiB.
const LARGE: u64 = 90 << 20;

thread_local! {
    static COUNTS: Cell<fn() -> Vec<Count>> = const { Cell::new(Vec::new) };
    static TOLD: RefCell<SentMetrics> = RefCell::default();
    static NAME: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Adds the Worker's own counts to the metrics. Objects that share the Worker's isolate also report them.
pub fn include(counts: fn() -> Vec<Count>) {
    COUNTS.set(counts);
}

/// Returns the isolate's figures above 0 if there is something new to report.
pub fn due(now_ms: i64) -> Option<Vec<Figure>> {
    let memory = memory_bytes();
    let mut all = COUNTS.get()();
    all.push((Figure::PANICS, "", panics::count()));
    all.push((Figure::MEMORY_BYTES, "", if memory < LARGE { 0 } else { memory }));
    let figures: Vec<_> = all
        .into_iter()
        .filter(|(_, _, number)| *number > 0)
        .map(|(figure, kind, number)| Figure {
            figure: figure.into(),
            kind: kind.into(),
            number: i64::try_from(number).unwrap_or(i64::MAX),
        })
        .collect();
    TOLD.with_borrow(|told| told.is_due(now_ms, &figures)).then_some(figures)
}

/// Reports the figures if there is something new.
pub async fn tell_if_due(runtime: &(impl Clock + ObjectCall)) {
    if let Some(figures) = due(runtime.now_ms()) {
        tell(runtime, figures).await;
    }
}

/// Reports figures. If they do not arrive, they are reported again later.
pub async fn tell(runtime: &(impl Clock + ObjectCall), figures: Vec<Figure>) {
    let at_ms = runtime.now_ms();
    TOLD.with_borrow_mut(|told| told.at_ms = at_ms);
    let message = IsolateMetrics { isolate: name(), at_ms, figures: figures.clone() };
    match runtime.call(&attention::address(), message, TIMEOUT).await {
        Ok(_) => TOLD.with_borrow_mut(|told| told.figures = figures),
        Err(error) => {
            log::warn("attention", format_args!("this isolate's metrics did not reach the attention object: {error}"))
        }
    }
}

/// The isolate's name, which is generated for its first message: the runtime provides randomness only during a request
/// or an alarm.
fn name() -> String {
    NAME.with_borrow_mut(|name| {
        if name.is_empty() {
            let random = runtime::random().ok();
            let bytes = random.and_then(|random| random.first_chunk().copied());
            *name = format!("{:016x}", bytes.map_or(0, u64::from_le_bytes));
        }
        name.clone()
    })
}
