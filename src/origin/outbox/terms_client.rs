//! Asks the catalog for the terms of conversions. A change of the terms governs from the next conversion on, so each
//! conversion asks; but all that arrive while a question is under way share the next one, so that a busy app costs the
//! catalog one question at a time. Where it can be, the question is only whether the terms have changed since the last.
//!
//! The conversions that share a question are judged in one turn of the event loop, and their writes are one commit: the
//! more share one, the less each costs. Left alone, the runtime answers a question before it reads the requests that wait on
//! its sockets; so while conversions come one after the other, a question lets some gather first.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    rc::Rc,
    time::Duration,
};

use super::terms_cache::{Question, TermsCache};
use contract::{
    catalog::{self, GetTerms, Terms, UNKNOWN_RESOURCE},
    operation::CallError,
};
use domain::model::{AppId, OfferId, api_error::common};
use platform::{
    failure::Failure,
    log,
    single_flight::{Outcome, SingleFlight},
    traits::{Clock, ObjectCall, Sleep},
};

const TIMEOUT: Duration = Duration::from_secs(5);
/// How long a question lets others join it, and how soon after the last one it does so.
const GATHER: Duration = Duration::from_millis(2);
const BUSY_MS: i64 = 25;

#[derive(Default)]
pub struct TermsClient {
    /// The offers that the waiting conversions are about.
    wanted: RefCell<BTreeSet<OfferId>>,
    /// When the last question left.
    asked_ms: Cell<i64>,
    single_flight: SingleFlight<Rc<TermsAnswer>>,
    cache: RefCell<TermsCache>,
}

/// An answer and the offers that it was asked for. A question may be cut off with the offers that others wanted in its
/// hands, so each caller checks that its own offer is among them.
#[derive(Debug)]
struct TermsAnswer {
    offers: BTreeSet<OfferId>,
    answer: Result<Rc<Terms>, Failure>,
}

impl TermsClient {
    /// The terms of an app and, if one is named, of an offer, as they are now.
    ///
    /// # Errors
    /// 404 for an app that the catalog does not have; `unavailable` if it does not answer.
    pub async fn terms(
        &self,
        runtime: &(impl Clock + Sleep + ObjectCall),
        app: AppId,
        offer: Option<&OfferId>,
    ) -> Result<Rc<Terms>, Failure> {
        self.wanted.borrow_mut().extend(offer.cloned());
        let is_about = |asked: &Rc<TermsAnswer>| offer.is_none_or(|offer| asked.offers.contains(offer));
        let asked = match self.single_flight.join(is_about).await {
            Outcome::Shared(asked) => asked,
            Outcome::Lead(leader) => {
                if runtime.now_ms().saturating_sub(self.asked_ms.get()) < BUSY_MS {
                    runtime.sleep(GATHER).await;
                }
                self.asked_ms.set(runtime.now_ms());
                leader
                    .run(async {
                        let mut offers = self.wanted.take();
                        offers.extend(offer.cloned());
                        let answer = self.ask(runtime, app, &offers).await;
                        Rc::new(TermsAnswer { offers, answer })
                    })
                    .await
            }
        };
        asked.answer.clone()
    }

    async fn ask(
        &self,
        runtime: &impl ObjectCall,
        app: AppId,
        wanted: &BTreeSet<OfferId>,
    ) -> Result<Rc<Terms>, Failure> {
        let question = self.cache.borrow().question(wanted);
        let answer = ask(runtime, app, &question).await?;
        self.cache.borrow_mut().answered(question, answer)
    }
}

/// The terms as they are now; `None` if they are still those of the question's `since`.
async fn ask(runtime: &impl ObjectCall, app: AppId, question: &Question) -> Result<Option<Terms>, Failure> {
    let operation = GetTerms {
        app_id: app.to_string(),
        offers: question.offers.iter().map(ToString::to_string).collect(),
        since: question.since,
    };
    let catalog = catalog::address(catalog::COMMAND_PATH);
    match runtime.call(&catalog, operation, TIMEOUT).await {
        Ok(reply) if reply.status == 204 => Ok(None),
        Ok(reply) => serde_json::from_str(&reply.body)
            .map(Some)
            .map_err(|error| Failure::Internal(format!("the catalog's terms: {error}"))),
        Err(CallError::Refused { status: 404, .. }) => Err(UNKNOWN_RESOURCE
            .with_message(format!("there is no app {app}"))
            .into()),
        Err(error) => {
            log::warn("outbox", format_args!("the catalog, for app {app}: {error}"));
            Err(common::UNAVAILABLE.into())
        }
    }
}
