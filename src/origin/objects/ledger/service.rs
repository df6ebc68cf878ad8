//! The service of one ledger: it handles report keys, facts and reports, and its alarm merges segments.

mod dashboard;
mod exports;
mod names;
mod register;
mod restate;

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    time::Duration,
};

use futures_util::Stream;

use super::{
    Context, MIGRATIONS, alarm, alarms,
    column_cache::ColumnCache,
    day_changes,
    export_slots::ExportSlots,
    final_days, freshness, handle, keys, next_alarm,
    page_memory::{PageMemory, PagePermit},
    report::{self, Report},
    report_budget::ReportBudget,
    retention,
    segments::Segments,
    uploads::Uploads,
};
use crate::delivery::{
    attention_feed::{AttentionFeed, Source},
    feed,
    register::Register,
    size,
};
use contract::{
    ledger::{Command, Reply, Upload, object_name},
    operation::{self, Mark},
};
use domain::{
    model::{ApiError, MINUTE_MS, MacKeys, PublisherId, common, time::rfc_3339},
    reporting::{Dimension, engine::Budget, format::Format, keys as report_keys, query::Query, rate, render::Renderer},
};
use platform::{
    Clock, DatabaseError, DbResult, Failure, ObjectCall, ObjectStorage, Random, Result,
    concurrency_limit::{ConcurrencyLimit, Limit},
    http::etag,
    log,
    object_shell::ObjectShell,
};

/// Maximum size of a page that is rendered as a whole, in bytes; larger pages are streamed.
const WHOLE: usize = 256 << 10;
/// The timeout of a call to the catalog in a request of the operator.
const CATALOG_TIMEOUT: Duration = Duration::from_secs(25);

/// Reports that wait for their query or for app names. With queries of up to 256 KiB they take 8 MiB. Reports are made
/// one at a time.
const REPORTS: Limit = Limit { permits: 32, per_owner: 32, lease_ms: MINUTE_MS };
/// Uploads in progress, which share the staging memory.
const UPLOADS: Limit = Limit { permits: 16, per_owner: 16, lease_ms: 16 * MINUTE_MS };

/// One restatement at a time, because it holds a day's rows in memory.
const RESTATEMENTS: Limit = Limit { permits: 1, per_owner: 1, lease_ms: MINUTE_MS };

pub struct LedgerService<D, R> {
    shell: ObjectShell<D, R>,
    register: Register,
    /// The setting `REPORT_KEY_MAC`, which is parsed only to issue a key.
    report_key_mac: String,
    /// For how many days facts are kept.
    facts_days: i32,
    staging: Uploads,
    columns: ColumnCache,
    page_memory: PageMemory,
    reports: ConcurrencyLimit,
    uploads: ConcurrencyLimit,
    restatements: ConcurrencyLimit,
    /// The budget of reports under a session.
    budget: ReportBudget,
    /// The exports that are being read.
    exports: ExportSlots,
    /// When the catalog last confirmed the publisher and sent its apps' names, in milliseconds.
    confirmed_at_ms: Cell<Option<i64>>,
    /// True once this process has treated all changes of final days as read.
    has_closed: Cell<bool>,
    /// True once this process has recorded that a report was made.
    has_reported: Cell<bool>,
    /// After a failed request for app names, reports send no further request before this time, in milliseconds.
    names_wait_until_ms: Cell<i64>,
    /// App names that are not stored yet. The next write of other data stores them, so that an unused object stays
    /// empty.
    names: RefCell<Option<BTreeMap<String, String>>>,
}

/// The headers of a report request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked<'r> {
    pub accept: Option<&'r str>,
    /// The versions of the facts that the reader accepts.
    pub if_match: Option<&'r str>,
}

/// The answer to a request whose `If-Match` does not list the current version of the facts.
const DATA_CHANGED: ApiError = ApiError::new(
    412,
    "data_changed",
    "the facts of these days have changed since the previous page: begin again with page 1",
);

/// The answer to a report request: the report or an error, with the headers of the rate limit in both cases.
pub struct ReportAnswer {
    pub headers: Vec<(&'static str, String)>,
    pub body: ReportBody,
}

pub enum ReportBody {
    Error(ApiError),
    /// 204, because no facts match the query.
    Nothing,
    Whole(Vec<u8>),
    /// Streamed; the permit reserves its memory.
    Stream(Box<Renderer>, PagePermit),
}

/// Returns the error of a report that failed. An internal cause goes to the log.
fn answer_to(failure: Failure) -> ApiError {
    if let Failure::Internal(cause) = &failure {
        log::error("ledger", cause);
    }
    failure.into_answer()
}

impl<D: ObjectStorage, R: Clock + Random + ObjectCall> LedgerService<D, R> {
    pub fn new(name: Option<String>, storage: D, runtime: R, report_key_mac: String) -> Self {
        Self {
            shell: ObjectShell::new("ledger", name, storage, runtime, MIGRATIONS),
            register: Register::default(),
            report_key_mac,
            facts_days: retention::DEFAULT_DAYS,
            staging: Uploads::default(),
            columns: ColumnCache::default(),
            page_memory: PageMemory::default(),
            reports: ConcurrencyLimit::new(REPORTS),
            uploads: ConcurrencyLimit::new(UPLOADS),
            restatements: ConcurrencyLimit::new(RESTATEMENTS),
            budget: ReportBudget::default(),
            exports: ExportSlots::default(),
            confirmed_at_ms: Cell::new(None),
            has_closed: Cell::new(false),
            has_reported: Cell::new(false),
            names_wait_until_ms: Cell::new(0),
            names: RefCell::new(None),
        }
    }

    fn now_ms(&self) -> i64 {
        self.shell.runtime().now_ms()
    }

    /// Carries out a command. The caller has made sure that the publisher exists.
    pub async fn command(&self, publisher: &PublisherId, command: Command) -> Result<Reply> {
        let after = match &command {
            Command::AddOffers(batch) => batch.after,
            Command::ReadMark(read) => read.known,
            _ => 0,
        };
        let lasts = register::lasts(&command) || self.changes_final_day(&command).await?;
        if lasts {
            let db = self.started(publisher).await?;
            if let Command::CreateKey(_) = command {
                // The answer contains the key, which cannot be read again. So the register must be reachable first.
                self.register.ready(db, self.shell.runtime(), &object_name(publisher)).await?;
            }
        }
        let shows_key = matches!(command, Command::CreateKey(_));
        let carry_out = |db: &D, now_ms| {
            self.store_names(db)?;
            let context = Context {
                now_ms,
                random: &|| self.shell.runtime().random(),
                mac: &|| MacKeys::parse(report_keys::SETTING, &self.report_key_mac).map_err(Failure::Internal),
                publisher,
            };
            handle(db, &context, command)
        };
        let reply = self.shell.command(carry_out, |db, _| self.next_alarm(db)).await;
        if lasts {
            // The register is written even after a refusal: an earlier call may have made the change and lost its
            // answer.
            let kept = self.keep(publisher).await;
            if !shows_key {
                kept?;
            }
        }
        let reply = reply?;
        if let Reply::Mark(Mark { mark }) = reply {
            self.tell_if_behind(publisher, (after, mark)).await?;
        }
        Ok(reply)
    }

    /// Sets for how many days facts are kept.
    pub fn with_facts_days(self, facts_days: i32) -> Self {
        Self { facts_days, ..self }
    }

    /// Returns when the alarm must fire next; none if no work waits.
    fn next_alarm(&self, db: &D) -> DbResult<Option<i64>> {
        let others = next_alarm(db, self.now_ms())?;
        let old_ms = retention::due_ms(db, self.facts_days)?;
        Ok(others.into_iter().chain(old_ms).min())
    }

    pub async fn alarm(&self) {
        self.shell
            .wake(async |db| {
                let worked = self.keep_later(db).await;
                let worked = worked.and_then(|()| Ok(alarm(db, self.now_ms())?));
                self.send_attention(db).await?;
                if let Some(publisher) = final_days::publisher(db)? {
                    alarms::tell(db, self.shell.runtime(), &publisher).await?;
                }
                worked?;
                retention::sweep(db, self.now_ms(), self.facts_days)?;
                Ok(self.next_alarm(db)?)
            })
            .await;
        size::tell(&self.shell, self.shell.name()).await;
    }

    /// Sends the ledger's items, such as unconfirmed days, to the operator's attention.
    async fn send_attention(&self, db: &D) -> DbResult {
        let source = |publisher: PublisherId| Source {
            name: object_name(&publisher),
            publisher: Some(publisher),
            ..Source::default()
        };
        let source = &|| Ok(final_days::publisher(db)?.map(source));
        feed::send(&AttentionFeed { db, source }, self.shell.runtime()).await
    }

    /// Returns the database with its schema migrated.
    ///
    /// # Errors
    /// Newer code has migrated the database, or the migration failed.
    pub async fn ready(&self) -> Result<&D> {
        self.shell.ready().await
    }

    /// Returns the cached columns of reports.
    #[cfg(feature = "bench")]
    pub fn columns(&self) -> &ColumnCache {
        &self.columns
    }

    /// Carries out `POST …/report/generate`, including the check of the key. `body` is read only after a permit was
    /// acquired. After the key was accepted, every answer has the rate limit's headers.
    ///
    /// # Errors
    /// The key is not valid, too many reports wait, or the database failed.
    pub async fn report(
        &self,
        publisher: &PublisherId,
        key: &str,
        asked: Asked<'_>,
        body: impl AsyncFnOnce() -> Result<String>,
    ) -> Result<ReportAnswer> {
        let _permit = self.reports.acquire_any(self.now_ms())?;
        let body = body().await?;
        let db = self.started(publisher).await?;
        let verdict = keys::admit(db, self.now_ms(), key)?;
        let result = match verdict.refusal() {
            None => self.make_report(db, publisher, &body, asked).await,
            Some(refusal) => Err(refusal),
        };
        let mut answer =
            result.unwrap_or_else(|error| ReportAnswer { headers: Vec::new(), body: ReportBody::Error(error) });
        answer.headers.extend([
            ("RateLimit-Policy", rate::POLICY.to_owned()),
            ("RateLimit", verdict.rate_limit()),
            ("Cache-Control", "no-store".to_owned()),
        ]);
        Ok(answer)
    }

    async fn make_report(
        &self,
        db: &D,
        publisher: &PublisherId,
        body: &str,
        asked: Asked<'_>,
    ) -> Result<ReportAnswer, ApiError> {
        let query = Query::parse(body)?;
        if query.dimensions.contains(&Dimension::App) {
            self.refresh_names(db, publisher).await;
        }
        let stored = |error: DatabaseError| answer_to(error.into());
        let version = day_changes::version(db, query.start, query.end).map_err(stored)?;
        let etag = format!("\"{version}\"");
        if asked.if_match.is_some_and(|tags| !etag::lists(tags, &etag)) {
            return Err(DATA_CHANGED);
        }
        let segments = Segments::new(db, None).with_cache(&self.columns);
        let report = report::build_of(&segments, db, &query, &Budget::default()).map_err(answer_to)?;
        if !self.has_reported.replace(true)
            && let Err(error) = freshness::reported(db, self.now_ms())
        {
            log::error("ledger", error);
        }
        let final_through = day_changes::final_through(db).map_err(stored)?;
        let final_through = final_through.map(|day| ("X-Final-Through", day.to_string()));
        let mut answer = self.render(report, &query, Format::from_accept(asked.accept))?;
        answer.headers.push(("ETag", etag));
        answer.headers.extend(final_through);
        Ok(answer)
    }

    fn render(&self, mut report: Report, query: &Query, format: Format) -> Result<ReportAnswer, ApiError> {
        let mut headers = vec![
            ("X-Total-Count", report.page.total.to_string()),
            ("X-Page", query.page.to_string()),
            ("X-Page-Size", query.count.to_string()),
        ];
        headers.extend(report.through_ms.map(|through_ms| ("X-Data-Through", rfc_3339(through_ms))));
        if report.page.matched_nothing() {
            return Ok(ReportAnswer { headers, body: ReportBody::Nothing });
        }
        headers.push(("Content-Type", format.media_type().to_owned()));
        report.page.shrink();
        let bytes = report.page.bytes();
        let renderer = Renderer::new(report.page, format, report.names);
        let body = if bytes <= WHOLE {
            ReportBody::Whole(renderer.whole())
        } else {
            let permit = self.page_memory.take(bytes).ok_or(common::UNAVAILABLE)?;
            ReportBody::Stream(Box::new(renderer), permit)
        };
        Ok(ReportAnswer { headers, body })
    }

    /// Receives an upload of facts in decompressed chunks. `chunks` is called only after a permit was acquired; an
    /// `Err` in the stream ends the upload.
    ///
    /// # Errors
    /// The upload is refused, or the database failed; none of it is applied.
    pub async fn facts<S: Stream<Item = Result<Vec<u8>, E>> + Unpin, E>(
        &self,
        publisher: &PublisherId,
        upload: Upload,
        chunks: impl FnOnce() -> Result<Option<S>>,
    ) -> Result<operation::OperatorReply> {
        let _permit = self.uploads.acquire_any(self.now_ms())?;
        self.require_publisher(publisher, CATALOG_TIMEOUT).await?;
        let db = self.started(publisher).await?;
        self.store_names(db)?;
        final_days::store_publisher(db, publisher)?;
        let first_kept = retention::first_kept(self.now_ms(), self.facts_days);
        let received = match chunks() {
            Ok(chunks) => self.staging.receive(db, self.shell.runtime(), upload, chunks, first_kept).await,
            Err(failure) => Err(failure),
        };
        // The alarm is set even after a failure, because rows that were written before the failure need the alarm.
        let armed = self.shell.wake_for(self.next_alarm(db));
        let reply = received?;
        self.keep(publisher).await?;
        armed.map(|()| reply)
    }
}
