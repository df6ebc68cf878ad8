//! `GET /metrics`: the metrics of this isolate.

use worker::Request;

use crate::isolate::RequestContext;
use domain::snapshot::tracking::ShardKind;
use platform::{
    http::{
        Answer, entry, header,
        traffic::{write_keys, write_memory, write_pools},
    },
    prometheus::MetricsText,
};

pub fn metrics(context: &RequestContext, request: &Request) -> Answer {
    let authorization = header(request, "Authorization");
    let token = &context.isolate.config.metrics_token;
    if !token.authorizes(authorization.as_deref()) {
        return entry::unauthorized();
    }
    Answer::new(200).body("text/plain; version=0.0.4", text(context)).header("Cache-Control", "no-store")
}

fn text(context: &RequestContext) -> String {
    let mut metrics = MetricsText::default();
    let isolate = &context.isolate;
    write_snapshots(&mut metrics, context);
    write_pools(&mut metrics, isolate.pools.each());
    write_memory(&mut metrics);
    write_keys(&mut metrics, |name| context.workers.setting(name));
    isolate.traffic.write(&mut metrics);
    metrics.value(
        "isolate_clicks_uncounted_total",
        "Clicks that were redirected but not counted.",
        isolate.counts.borrow().dropped(),
    );
    metrics.value(
        "isolate_clicks_coarse_total",
        "Clicks that were counted without their placement and country.",
        isolate.counts.borrow().coarse(),
    );
    metrics.text()
}

fn write_snapshots(metrics: &mut MetricsText, context: &RequestContext) {
    let isolate = &context.isolate;
    let manifest = isolate.manifest.get();
    let listing = isolate.listing.get();
    metrics.value(
        "isolate_tracking_version",
        "Version of the tracking snapshot in this isolate.",
        manifest.as_ref().map_or(0, |manifest| manifest.version()),
    );
    metrics.value(
        "isolate_snapshot_age_seconds",
        "Time since the catalog confirmed that this snapshot is the newest.",
        isolate.manifest.age_s(context.now_ms),
    );
    let [advertisers, apps, goals] = ShardKind::ALL.map(|kind| isolate.shards(kind).size());
    metrics.metric(
        "isolate_shards",
        "Shards of the tracking snapshot in this isolate, by kind.",
        [("goals", goals), ("apps", apps), ("advertisers", advertisers)]
            .map(|(kind, (_, number))| ([("kind", kind)], number)),
    );
    let of_manifest = manifest.map_or(0, |manifest| manifest.size());
    let of_listing = listing.map_or(0, |listing| listing.listing().size());
    let memory = [
        ("manifest", of_manifest),
        ("goals", goals.0),
        ("apps", apps.0),
        ("advertisers", advertisers.0),
        ("listing", of_listing),
        ("bodies", isolate.chunks.size()),
        ("pages", isolate.pages.size()),
    ];
    metrics.metric(
        "isolate_held_bytes",
        "Memory used by this isolate's data, by kind.",
        memory.map(|(what, bytes)| ([("what", what)], bytes)),
    );
}
