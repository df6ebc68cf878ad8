//! Benchmark builds only: `POST /v1/bench/report?publisher=…&times=…` makes a report several times within one call to
//! its ledger, to measure it without the call. `POST /v1/bench/uncounted` stops the isolate from counting clicks, to
//! measure a click without its count. The routes have no authentication and no rate limit.

use std::{cell::Cell, time::Duration};

use worker::Request;

use crate::{isolate::RequestContext, reports::ask_ledger};
use contract::ledger;
use domain::{
    model::{PublisherId, common},
    reporting::query::MAX_BODY,
};
use platform::http::{Answer, body};

pub const REPORT: &str = "/v1/bench/report";
pub const UNCOUNTED: &str = "/v1/bench/uncounted";
const TIMEOUT: Duration = Duration::from_secs(900);

thread_local! {
    static COUNTS_CLICKS: Cell<bool> = const { Cell::new(true) };
}

pub fn counts_clicks() -> bool {
    COUNTS_CLICKS.get()
}

pub fn stop_counting() -> Answer {
    COUNTS_CLICKS.set(false);
    Answer::new(204)
}

pub async fn report(context: &RequestContext, mut request: Request, query: &str) -> Answer {
    let value = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
    };
    let (Some(publisher), Ok(body)) =
        (value("publisher").and_then(PublisherId::parse), body::read_text(&mut request, MAX_BODY).await)
    else {
        return common::NOT_FOUND.into();
    };
    let times = value("times").unwrap_or("1");
    let headers = [(ledger::BENCH_TIMES, times.to_owned())];
    match ask_ledger(context, &publisher, ledger::BENCH, headers, &body, TIMEOUT).await {
        Ok(response) => Answer::pass(response).await,
        Err(error) => error.into(),
    }
}
