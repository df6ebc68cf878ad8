//! Bench builds only: `POST /v1/bench/report?publisher=…&times=…` has a publisher's ledger make the same report so many
//! times, so that what a report takes can be told from what the way to it takes. It asks for no key and knows no rate.

use worker::Request;

use super::{answer::Answer, body, isolate::Visit};
use crate::{catalog::PublisherId, origin::ledger::client, refusal::common, reporting::query::MAX_BODY};

pub const REPORT: &str = "/v1/bench/report";

pub async fn report(visit: &Visit, mut request: Request, query: &str) -> Answer {
    let value = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(of, _)| *of == name).map(|(_, value)| value)
    };
    let (Some(publisher), Ok(body)) = (
        value("publisher").and_then(PublisherId::parse),
        body::read_text(&mut request, MAX_BODY).await,
    ) else {
        return common::NOT_FOUND.into();
    };
    let times = value("times").unwrap_or("1");
    let answered = client::bench(&visit.env, &publisher, times, &body).await;
    match answered {
        Ok(response) => Answer::pass(response).await,
        Err(error) => error.into(),
    }
}
