//! Requests the terms of conversions from the catalog. Changed terms apply from the next conversion on, so each
//! conversion needs a request. It is single-flight: conversions that arrive during a request share the next one, so a
//! busy app costs the catalog one request at a time. With cached terms, it asks only whether they have changed.
//!
//! Conversions that share a request are decided in one turn of the event loop, and their writes are one commit, so
//! sharing makes them cheaper. The runtime would deliver an answer before it reads the requests waiting on its sockets;
//! under load, a request therefore waits a moment for others to join it.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    rc::Rc,
    time::Duration,
};

use super::terms_cache::{TermsCache, TermsRequest};
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
/// How long a request waits for others to join it, if the last request left less than [`BUSY_MS`] milliseconds ago.
const GATHER: Duration = Duration::from_millis(2);
const BUSY_MS: i64 = 25;

#[derive(Default)]
pub struct TermsClient {
    /// The offers of the waiting conversions.
    wanted: RefCell<BTreeSet<OfferId>>,
    /// When the last request was sent, in milliseconds.
    requested_ms: Cell<i64>,
    single_flight: SingleFlight<Rc<TermsAnswer>>,
    cache: RefCell<TermsCache>,
}

/// An answer and the requested offers. A cancelled request takes the offers of its waiters with it, so each caller
/// checks that its own offer is among those of the answer.
#[derive(Debug)]
struct TermsAnswer {
    offers: BTreeSet<OfferId>,
    answer: Result<Rc<Terms>, Failure>,
}

impl TermsClient {
    /// The current terms of an app and, if given, of an offer.
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
        let covers = |shared: &Rc<TermsAnswer>| offer.is_none_or(|offer| shared.offers.contains(offer));
        let shared = match self.single_flight.join(covers).await {
            Outcome::Shared(shared) => shared,
            Outcome::Lead(leader) => {
                if runtime.now_ms().saturating_sub(self.requested_ms.get()) < BUSY_MS {
                    runtime.sleep(GATHER).await;
                }
                self.requested_ms.set(runtime.now_ms());
                leader
                    .run(async {
                        let mut offers = self.wanted.take();
                        offers.extend(offer.cloned());
                        let answer = self.request(runtime, app, &offers).await;
                        Rc::new(TermsAnswer { offers, answer })
                    })
                    .await
            }
        };
        shared.answer.clone()
    }

    async fn request(
        &self,
        runtime: &impl ObjectCall,
        app: AppId,
        wanted: &BTreeSet<OfferId>,
    ) -> Result<Rc<Terms>, Failure> {
        let request = self.cache.borrow().request(wanted);
        let answer = send(runtime, app, &request).await?;
        self.cache.borrow_mut().apply(request, answer)
    }
}

/// Sends a request. Returns the current terms, or `None` if they have not changed since the request's `since`.
async fn send(
    runtime: &impl ObjectCall,
    app: AppId,
    request: &TermsRequest,
) -> Result<Option<Terms>, Failure> {
    let operation = GetTerms {
        app_id: app.to_string(),
        offers: request.offers.iter().map(ToString::to_string).collect(),
        since: request.since,
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
