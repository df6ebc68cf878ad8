//! Asking the catalog for its terms. Every conversion is judged by an answer that was asked for after it came, so that
//! a payout or a token that the operator has just changed holds from the next conversion on; but all that come while one
//! question is on its way share the next, so that a busy app costs the catalog one question at a time. And what is asked
//! is, where it can be, only whether the terms have changed since they were asked for before.
//!
//! Who shares a question is judged in one turn of the event loop, and what they write is one commit: the more share one,
//! the less each costs. Left alone, the runtime answers a question before it reads the requests that wait on its sockets;
//! so while conversions come one after the other, a question lets some gather first.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    rc::Rc,
    time::Duration,
};

use worker::{Delay, Env};

use super::remembered::{Question, Remembered};
use crate::{
    catalog::{AppId, OfferId},
    log,
    origin::{
        catalog::{Command, UNKNOWN_RESOURCE, client, terms::Terms},
        command::{CallError, Failure},
        sharing::{Share, Sharing},
    },
    refusal::common,
    runtime::now_ms,
};

const TIMEOUT: Duration = Duration::from_secs(5);
/// How long a question lets others join it, and how soon after the last one it does so.
const GATHER: Duration = Duration::from_millis(2);
const BUSY_MS: i64 = 25;

#[derive(Default)]
pub struct Asking {
    /// The offers that those who wait are about.
    wanted: RefCell<BTreeSet<OfferId>>,
    /// When the last question left.
    asked_ms: Cell<i64>,
    sharing: Sharing<Rc<Asked>>,
    remembered: RefCell<Remembered>,
}

/// The last answer, and about which offers it was asked for. One that asked for others may have been cut off, with what
/// they wanted in its hands.
#[derive(Debug)]
struct Asked {
    offers: BTreeSet<OfferId>,
    answer: Result<Rc<Terms>, Failure>,
}

impl Asking {
    /// The terms of an app and, if one is named, of an offer, as they are now.
    ///
    /// # Errors
    /// 404 for an app that the catalog does not have; `unavailable` if it does not answer.
    pub async fn terms(&self, env: &Env, app: AppId, offer: Option<&OfferId>) -> Result<Rc<Terms>, Failure> {
        self.wanted.borrow_mut().extend(offer.cloned());
        let is_about = |asked: &Rc<Asked>| offer.is_none_or(|offer| asked.offers.contains(offer));
        let asked = match self.sharing.come(is_about).await {
            Share::Of(asked) => asked,
            Share::Turn(turn) => {
                if now_ms().saturating_sub(self.asked_ms.get()) < BUSY_MS {
                    Delay::from(GATHER).await;
                }
                self.asked_ms.set(now_ms());
                turn.take(async {
                    let mut offers = self.wanted.take();
                    offers.extend(offer.cloned());
                    let answer = self.ask(env, app, &offers).await;
                    Rc::new(Asked { offers, answer })
                })
                .await
            }
        };
        asked.answer.clone()
    }

    async fn ask(&self, env: &Env, app: AppId, wanted: &BTreeSet<OfferId>) -> Result<Rc<Terms>, Failure> {
        let question = self.remembered.borrow().question(wanted);
        let answer = ask(env, app, &question).await?;
        self.remembered.borrow_mut().answered(question, answer)
    }
}

/// The terms as they are now; `None` if they are as of the question's `since`.
async fn ask(env: &Env, app: AppId, question: &Question) -> Result<Option<Terms>, Failure> {
    let command = Command::Terms {
        app_id: app.to_string(),
        offers: question.offers.iter().map(ToString::to_string).collect(),
        since: question.since,
    };
    match client::call_within(env, &command, TIMEOUT).await {
        Ok(reply) if reply.status == 204 => Ok(None),
        Ok(reply) => serde_json::from_str(&reply.body)
            .map(Some)
            .map_err(|error| Failure::Broken(format!("the catalog's terms: {error}"))),
        Err(CallError::Refused { status: 404, .. }) => {
            Err(UNKNOWN_RESOURCE.because(format!("there is no app {app}")).into())
        }
        Err(error) => {
            log::warn("outbox", format_args!("the catalog, for app {app}: {error}"));
            Err(common::UNAVAILABLE.into())
        }
    }
}
