//! Asking the catalog for its terms. Every conversion is judged by an answer that was asked for after it came, so that
//! a payout or a token that the operator has just changed holds from the next conversion on; but all that come while one
//! question is on its way share the next, so that a busy app costs the catalog one question at a time.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    rc::Rc,
    time::Duration,
};

use futures_util::lock::Mutex;
use worker::{Env, console_warn};

use crate::{
    catalog::{AppId, OfferId},
    origin::{
        catalog::{Command, UNKNOWN_RESOURCE, client, terms::Terms},
        command::{CallError, Failure},
    },
    refusal::common,
};

const TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Default)]
pub struct Asking {
    /// How many came so far, each with the offer that it is about.
    arrivals: Cell<u64>,
    wanted: RefCell<BTreeSet<OfferId>>,
    /// All requests of an object share one I/O context, so waiting for another's lock is allowed here.
    last: Mutex<Option<Asked>>,
}

/// The last answer, which arrival it was the last to be asked for, and about which offers.
struct Asked {
    covers: u64,
    offers: BTreeSet<OfferId>,
    answer: Result<Rc<Terms>, Failure>,
}

impl Asked {
    /// Whether it was asked for on behalf of an arrival. One that asked for others may have been cut off, with what they
    /// wanted in its hands.
    fn covers(&self, arrival: u64, offer: Option<&OfferId>) -> bool {
        self.covers >= arrival && offer.is_none_or(|offer| self.offers.contains(offer))
    }
}

impl Asking {
    /// The terms of an app and, if one is named, of an offer, as they are now.
    ///
    /// # Errors
    /// 404 for an app that the catalog does not have; `unavailable` if it does not answer.
    pub async fn terms(&self, env: &Env, app: AppId, offer: Option<&OfferId>) -> Result<Rc<Terms>, Failure> {
        let arrival = self.arrivals.get().saturating_add(1);
        self.arrivals.set(arrival);
        self.wanted.borrow_mut().extend(offer.cloned());
        let mut last = self.last.lock().await;
        if let Some(asked) = last.as_ref().filter(|asked| asked.covers(arrival, offer)) {
            return asked.answer.clone();
        }
        let covers = self.arrivals.get();
        let mut offers = self.wanted.take();
        offers.extend(offer.cloned());
        let answer = ask(env, app, &offers).await.map(Rc::new);
        *last = Some(Asked {
            covers,
            offers,
            answer: answer.clone(),
        });
        answer
    }
}

async fn ask(env: &Env, app: AppId, offers: &BTreeSet<OfferId>) -> Result<Terms, Failure> {
    let command = Command::Terms {
        app_id: app.to_string(),
        offers: offers.iter().map(ToString::to_string).collect(),
    };
    match client::call_within(env, &command, TIMEOUT).await {
        Ok(reply) => serde_json::from_str(&reply.body)
            .map_err(|error| Failure::Broken(format!("the catalog's terms: {error}"))),
        Err(CallError::Refused { status: 404, .. }) => {
            Err(UNKNOWN_RESOURCE.because(format!("there is no app {app}")).into())
        }
        Err(error) => {
            console_warn!("outbox {app}: the catalog: {error}");
            Err(common::UNAVAILABLE.into())
        }
    }
}
