//! `GET /healthz`: the health of this isolate for a load balancer, for the interfaces of the requested host.
//!
//! - Clicks and offers are served from memory, so the isolate's snapshots decide.
//! - The other interfaces need objects. A background probe calls the catalog, at most as often as an isolate asks for
//!   newer snapshots. There are too many outboxes and ledgers to wake for a probe, so the answers to recent postbacks
//!   and reports decide.
//!
//! A host that serves several interfaces has the status of the first of them in this order: clicks, offers, reports,
//! operator. Clicks come first, because a lost click cannot be repeated and every other request can.

use std::{rc::Rc, time::Duration};

use serde_json::{Map, Value};
use worker::Delay;

use crate::{isolate::RequestContext, snapshots};
use contract::{
    catalog::{COMMAND_PATH, ReadHealth, address},
    operation::CallError,
};
use domain::{model::SECOND_MS, offers::selection::Selector, snapshot::tracking::Manifest};
use platform::{
    ObjectCall,
    http::{Answer, entry, router::Interface},
    isolate_metrics, log_panics,
    runtime::now_ms,
};

/// Maximum wait for the first snapshots and the first probe, in milliseconds.
const WAIT_MS: i64 = 1_500;
const POLL_INTERVAL: Duration = Duration::from_millis(10);
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// Probes the catalog in the background if a probe is due.
fn probe_catalog(context: &RequestContext) {
    let isolate = Rc::clone(&context.isolate);
    let since_ms = context.now_ms.saturating_sub(isolate.reach.probed_at_ms.get());
    if since_ms < isolate.config.revalidate_ms {
        return;
    }
    isolate.reach.probed_at_ms.set(context.now_ms);
    let workers = context.workers.clone();
    let probe = async move {
        let outcome = workers.call(&address(COMMAND_PATH), ReadHealth {}, PROBE_TIMEOUT).await;
        isolate.reach.catalog.set(Some(CallError::was_answered(&outcome)));
        isolate_metrics::tell_if_due(&workers).await;
    };
    context.go_on(log_panics("health", probe));
}

/// Whether an interface is served; `Err` has the reason why not.
type Served = Result<(), &'static str>;

pub async fn health(context: &RequestContext, host: &str) -> Answer {
    let isolate = &context.isolate;
    let all = [Interface::Tracking, Interface::Offers, Interface::Reporting, Interface::Operator];
    // An unknown host, such as an IP address, reports all interfaces.
    let is_known_host = all.iter().any(|interface| isolate.config.hosts.serves(host, *interface));
    let serves = |interface| !is_known_host || isolate.config.hosts.serves(host, interface);
    let by_memory = serves(Interface::Tracking) || serves(Interface::Offers);
    let by_objects = serves(Interface::Tracking) || serves(Interface::Reporting) || serves(Interface::Operator);
    if by_memory {
        snapshots::keep_current::<Manifest>(context);
    }
    if serves(Interface::Offers) {
        snapshots::keep_current::<Selector>(context);
    }
    if by_objects {
        probe_catalog(context);
    }
    let is_ready = || {
        (!by_memory || !isolate.manifest.is_loading(now_ms()))
            && (!serves(Interface::Offers) || !isolate.listing.is_loading(now_ms()))
            && (!by_objects || by_memory || isolate.reach.catalog.get().is_some())
    };
    let until_ms = context.now_ms.saturating_add(WAIT_MS);
    while !is_ready() && now_ms() < until_ms {
        Delay::from(POLL_INTERVAL).await;
    }

    let catalog = reached(isolate.reach.catalog.get(), "catalog_unreachable");
    let mut interfaces = Map::new();
    let mut status = None;
    let mut report = |name: &str, served: Served, mut part: Map<String, Value>, decides: bool| {
        part.insert("served".into(), served.is_ok().into());
        part.extend(served.err().map(|why| ("why".to_owned(), why.into())));
        interfaces.insert(name.into(), part.into());
        if decides && status.is_none() {
            status = Some(served);
        }
    };
    let snapshot = isolate.manifest.get();
    let clicks = snapshot.as_ref().map(|_| ()).ok_or("no_snapshot");
    let are_known = snapshots::are_credentials_known(isolate, context.now_ms);
    let credentials = are_known.then_some(()).ok_or("snapshot_unconfirmed");
    if serves(Interface::Tracking) {
        report("clicks", clicks, Map::new(), true);
        // A postback needs the snapshot for its token, and its outbox. Only the first postback after a change of terms
        // needs the catalog.
        let outboxes = isolate.reach.outboxes.borrow();
        let is_reachable = !outboxes.is_outage(now_ms());
        let reachable = is_reachable.then_some(()).ok_or("outboxes_unreachable");
        let served = reachable.and(clicks).and(credentials);
        report("conversions", served, Map::new(), false);
    }
    if serves(Interface::Offers) {
        let listing = isolate.listing.get();
        let served = clicks.and(listing.as_ref().map(|_| ()).ok_or("no_listing")).and(credentials);
        let mut part = Map::new();
        if let Some(listing) = &listing {
            let listing = listing.listing();
            let age_ms = context.now_ms.saturating_sub(listing.built_at_ms()).max(0);
            part.insert("listing_version".into(), listing.version().into());
            part.insert("listing_age_s".into(), (age_ms / SECOND_MS).into());
        }
        report("offers", served, part, true);
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
        report("reports", served, Map::new(), true);
    }
    if serves(Interface::Operator) {
        report("operator", catalog, Map::new(), true);
    }
    let mut body = Map::new();
    body.insert("interfaces".into(), interfaces.into());
    if let Some(snapshot) = &snapshot {
        let age_s = isolate.manifest.age_s(context.now_ms);
        body.insert("snapshot_version".into(), snapshot.version().into());
        body.insert("snapshot_age_s".into(), age_s.into());
    }
    let why = status.and_then(Result::err);
    if let Some(why) = why {
        isolate.traffic.ordinary.unhealthy(why);
    }
    entry::health(body, why)
}

fn reached(answered: Option<bool>, why: &'static str) -> Served {
    if answered == Some(false) { Err(why) } else { Ok(()) }
}
