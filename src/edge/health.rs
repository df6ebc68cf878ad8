//! `GET /healthz`: the state of this isolate for a load balancer, for the host that it asks.
//!
//! Clicks and offers come from memory and go on whatever is behind them, so they are judged by the isolate's snapshots.
//! Conversions, reports and the operator live in objects: whether these can be reached is asked of one, the catalog, by a
//! probe in the background, so that frequent health checks wake it no more often than an isolate asks for news. Outboxes
//! and ledgers are many, and none is woken for this: the last postbacks and reports tell of theirs. A click cannot be sent
//! again and all else can, so where a host serves several it is judged by the first of clicks, offers, reports and the
//! operator.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::Duration,
};

use serde_json::{Map, Value};
use worker::Delay;

use crate::{isolate::RequestContext, offers, reachability::Reachability, snapshots};
use contract::{
    catalog::{COMMAND_PATH, Get, Resource, address},
    operation::CallError,
};
use domain::{
    catalog::snapshot::tracking::Tracking,
    model::{AppId, PublisherId, time::SECOND_MS},
    offers::selection::Selector,
};
use platform::{
    http::{answer::Answer, entry, router::Interface},
    panics::log_panics,
    runtime::now_ms,
    traits::ObjectCall,
};

/// How long an isolate that knows nothing yet is waited for, and how often it is looked at.
const WAIT_MS: i64 = 1_500;
const LOOK: Duration = Duration::from_millis(10);
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// What an isolate knows of the objects.
#[derive(Default)]
pub struct Reach {
    probed_at_ms: Cell<i64>,
    /// Whether the catalog answered the last probe.
    catalog: Cell<Option<bool>>,
    ledgers: RefCell<Reachability>,
    outboxes: RefCell<Reachability>,
}

impl Reach {
    /// Whether the ledger of a report's publisher answered.
    pub fn ledger(&self, publisher: &PublisherId, answered: bool) {
        let mut ledgers = self.ledgers.borrow_mut();
        ledgers.note(publisher.as_str(), answered, now_ms());
    }

    /// Whether the outbox of a postback's app answered.
    pub fn outbox(&self, app: AppId, answered: bool) {
        let mut outboxes = self.outboxes.borrow_mut();
        outboxes.note(&app.to_string(), answered, now_ms());
    }

    /// Asks the catalog for something small that it does not have, in the background, when that was not done lately.
    fn probe(context: &RequestContext) {
        let isolate = Rc::clone(&context.isolate);
        let since_ms = context.now_ms.saturating_sub(isolate.reach.probed_at_ms.get());
        if since_ms < isolate.config.revalidate_ms {
            return;
        }
        isolate.reach.probed_at_ms.set(context.now_ms);
        let workers = context.workers.clone();
        let probe = async move {
            let nothing = Get {
                resource: Resource::Publisher,
                id: "-".into(),
            };
            let asked = workers.call(&address(COMMAND_PATH), nothing, PROBE_TIMEOUT).await;
            isolate.reach.catalog.set(Some(CallError::was_answered(&asked)));
        };
        context.lifetime.wait_until(log_panics("health", probe));
    }
}

/// Why an interface is not served, or that it is.
type Served = Result<(), &'static str>;

pub async fn health(context: &RequestContext, host: &str) -> Answer {
    let isolate = &context.isolate;
    let all = [
        Interface::Tracking,
        Interface::Offers,
        Interface::Reporting,
        Interface::Operator,
    ];
    // A host that is nobody's, or an address, tells of all.
    let is_ones = all
        .iter()
        .any(|interface| isolate.config.hosts.serves(host, *interface));
    let serves = |interface| !is_ones || isolate.config.hosts.serves(host, interface);
    let by_memory = serves(Interface::Tracking) || serves(Interface::Offers);
    let by_objects =
        serves(Interface::Tracking) || serves(Interface::Reporting) || serves(Interface::Operator);
    if by_memory {
        snapshots::keep_current::<Tracking>(context);
    }
    if serves(Interface::Offers) {
        snapshots::keep_current::<Selector>(context);
    }
    if by_objects {
        Reach::probe(context);
    }
    let is_known = || {
        (!by_memory || !isolate.tracking.is_awaited(now_ms()))
            && (!serves(Interface::Offers) || !isolate.listing.is_awaited(now_ms()))
            && (!by_objects || by_memory || isolate.reach.catalog.get().is_some())
    };
    let until_ms = context.now_ms.saturating_add(WAIT_MS);
    while !is_known() && now_ms() < until_ms {
        Delay::from(LOOK).await;
    }

    let catalog = reached(isolate.reach.catalog.get(), "catalog_unreachable");
    let mut told = Map::new();
    let mut judged = None;
    let mut tell = |name: &str, served: Served, mut part: Map<String, Value>, judges: bool| {
        part.insert("served".into(), served.is_ok().into());
        part.extend(served.err().map(|why| ("why".to_owned(), why.into())));
        told.insert(name.into(), part.into());
        if judges && judged.is_none() {
            judged = Some(served);
        }
    };
    let snapshot = isolate.tracking.get();
    let clicks = snapshot.as_ref().map(|_| ()).ok_or("no_snapshot");
    if serves(Interface::Tracking) {
        tell("clicks", clicks, Map::new(), true);
        // A postback is nothing without either.
        let outboxes = isolate.reach.outboxes.borrow();
        let is_heard = !outboxes.is_outage(now_ms());
        let served = catalog.and(is_heard.then_some(()).ok_or("outboxes_unreachable"));
        tell("conversions", served, Map::new(), false);
    }
    if serves(Interface::Offers) {
        let listing = isolate.listing.get();
        let served = clicks.and(if listing.is_none() {
            Err("no_listing")
        } else if offers::are_credentials_known(isolate, context.now_ms) {
            Ok(())
        } else {
            Err("snapshot_unconfirmed")
        });
        let mut part = Map::new();
        if let Some(listing) = &listing {
            let listing = listing.listing();
            let age_ms = context.now_ms.saturating_sub(listing.built_at_ms()).max(0);
            part.insert("listing_version".into(), listing.version().into());
            part.insert("listing_age_s".into(), (age_ms / SECOND_MS).into());
        }
        tell("offers", served, part, true);
    }
    if serves(Interface::Reporting) {
        let ledgers = isolate.reach.ledgers.borrow();
        let served = if ledgers.is_outage(now_ms()) {
            Err("ledgers_unreachable")
        } else if catalog.is_err() && ledgers.has_failed(now_ms()) {
            Err("objects_unreachable")
        } else {
            Ok(())
        };
        tell("reports", served, Map::new(), true);
    }
    if serves(Interface::Operator) {
        let configured = isolate
            .config
            .operator_token
            .is_set()
            .then_some(())
            .ok_or("no_operator_token");
        tell("operator", configured.and(catalog), Map::new(), true);
    }
    let mut body = Map::new();
    body.insert("interfaces".into(), told.into());
    if let Some(snapshot) = &snapshot {
        body.insert("snapshot_version".into(), snapshot.version().into());
        body.insert(
            "snapshot_age_s".into(),
            isolate.tracking.age_s(context.now_ms).into(),
        );
    }
    entry::health(body, judged.and_then(Result::err))
}

fn reached(answered: Option<bool>, why: &'static str) -> Served {
    if answered == Some(false) { Err(why) } else { Ok(()) }
}
