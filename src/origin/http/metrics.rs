//! The operator's metrics: the catalog's figures, and those of this isolate.

use std::time::Duration;

use serde_json::Value;

use crate::{
    http::RequestContext,
    objects::{
        catalog::{
            publication::{BYTES, COUNTED},
            revisions::{LISTING_BUILT_AT, OLD_SEALS, TRACKING_BUILT_AT, TRACKING_DIRTY_SINCE},
        },
        outbox::{callbacks::delivery_log, sums::comparisons},
    },
};
use contract::catalog::{COMMAND_PATH, GetStatus, address};
use platform::{
    ObjectCall,
    http::{
        Answer,
        traffic::{write_keys, write_memory, write_pools},
    },
    log,
    prometheus::MetricsText,
};

/// The timeout of the call to the catalog. It is short, because an operator needs the isolate's own counts most while
/// the catalog does not answer.
const CATALOG_TIMEOUT: Duration = Duration::from_millis(1_500);

/// `GET /v1/operator/metrics`.
pub async fn answer(context: &RequestContext) -> Answer {
    let status = context.workers.call(&address(COMMAND_PATH), GetStatus {}, CATALOG_TIMEOUT).await;
    let catalog = status
        .inspect_err(|error| log::error("objects", error))
        .ok()
        .and_then(|reply| serde_json::from_str(&reply.body).ok());
    Answer::new(200)
        .body("text/plain; version=0.0.4", text(context, catalog.as_ref()))
        .header("Cache-Control", "no-store")
}

fn text(context: &RequestContext, catalog: Option<&Value>) -> String {
    let mut metrics = MetricsText::default();
    metrics.value(
        "catalog_up",
        "1 if the catalog answered this scrape; otherwise 0, and the catalog's metrics are missing.",
        u8::from(catalog.is_some()),
    );
    if let Some(catalog) = catalog {
        write_catalog(&mut metrics, catalog);
    }
    let isolate = &context.isolate;
    write_pools(&mut metrics, isolate.pools.each());
    write_memory(&mut metrics);
    write_keys(&mut metrics, |name| context.workers.setting(name));
    isolate.traffic.write(&mut metrics, &isolate.traffic.requests());
    let attempts = delivery_log::counts();
    metrics.metric(
        "isolate_callback_tries_total",
        "Callback attempts by the outboxes in this isolate, by outcome.",
        [
            ([("outcome", "delivered")], attempts.delivered),
            ([("outcome", "failed")], attempts.failed),
            ([("outcome", "dead")], attempts.dead),
        ],
    );
    let compared = comparisons::counts();
    metrics.metric(
        "isolate_reconciled_days_total",
        "Days that this isolate's outboxes compared with the ledger, by whether their totals were equal.",
        [([("outcome", "equal")], compared.equal), ([("outcome", "different")], compared.different)],
    );
    let apps = compared.rewards.iter().map(|(app, rewards)| (app.to_string(), rewards));
    let apps: Vec<_> = apps.collect();
    metrics.metric(
        "isolate_reconciled_rewards_total",
        "Rewards of the compared days, by app and kind: all; after_24_h, over 24 hours after the click; superseded_terms, paid under earlier terms.",
        apps.iter().flat_map(|(app, rewards)| {
            [
                ([("app", app.as_str()), ("kind", "all")], rewards.all),
                ([("app", app), ("kind", "after_24_h")], rewards.after_24_h),
                (
                    [("app", app), ("kind", "superseded_terms")],
                    rewards.by_superseded_terms,
                ),
            ]
        }),
    );
    metrics.text()
}

fn write_catalog(metrics: &mut MetricsText, catalog: &Value) {
    let number = |name: &str| catalog.get(name).and_then(Value::as_i64).unwrap_or(0);
    metrics.metric(
        "catalog_resources",
        "Resources in the catalog, by kind.",
        COUNTED.iter().map(|name| ([("kind", *name)], number(name))),
    );
    metrics.value("catalog_bytes", "Size of the catalog's database, which can hold 10 GB.", number(BYTES));
    for (mark, help) in [
        (OLD_SEALS, "Secrets in the catalog that are sealed with a key other than the first in its setting."),
        (TRACKING_BUILT_AT, "When the tracking snapshot was last published, in Unix milliseconds."),
        (LISTING_BUILT_AT, "When the listing was last published, in Unix milliseconds."),
        (
            TRACKING_DIRTY_SINCE,
            "When the oldest unpublished change was made, in Unix milliseconds; 0 if all are published.",
        ),
    ] {
        metrics.value(mark, help, number(mark));
    }
}
