//! The service of the catalog: it carries out commands and imports, and its alarm publishes to KV.

mod claims;
mod imports;
mod publishing;
mod register;

use std::cell::Cell;

use futures_util::future::join5;

use super::{
    Context, account_sync,
    callback_sync::{self, QueuedSettings},
    cap_sync::{self, QueuedCap},
    handle,
    kv_writer::KvWriter,
    offer_figures::{COUNT_CAPS_MS, NearCaps},
    publication, reads,
    resealing::Resealing,
    revisions,
    schedule::next_alarm,
    schema::MIGRATIONS,
    steps::in_steps,
    tracking_slots,
    waiting::Waiting,
};
use crate::delivery::{
    self,
    push::{Push, PushQueue},
    register::Register,
    size,
};
use contract::{
    accounts::Suspend,
    catalog::{CHUNK_PATH, Command, OBJECT_NAME, Refreshed, Resource, SHARD_PATH, snapshot_path},
    kv::SnapshotKind,
    operation::OperatorReply,
};
use domain::{
    callbacks::guard::Guard,
    model::{AppId, MacKeys, OfferId, PublisherId, SECOND_MS, Vault, common},
    snapshot::tracking::Slot,
};
use imports::Imports;
use platform::{
    Clock, DbResult, Failure, Kv, ObjectCall, ObjectStorage, Random, Result, Sleep, log, object_shell::ObjectShell,
    single_flight::SingleFlight,
};
use register::{Change, change};

/// The delay before a failed alarm is retried.
const RETRY_MS: i64 = 5 * SECOND_MS;

/// The catalog's configuration.
pub struct Settings {
    /// The keys of `STORE_KEYS`.
    pub vault: Result<Vault, String>,
    /// The keys of `EDGE_KEYS`.
    pub edge_vault: Result<Vault, String>,
    /// The keys of `TOKEN_MAC`.
    pub token_mac: Result<MacKeys, String>,
    /// Decides where callbacks may go.
    pub guard: Guard,
}

pub struct CatalogService<D, R> {
    shell: ObjectShell<D, R>,
    register: Register,
    settings: Settings,
    /// Lets one publication run at a time, because concurrent publications would interleave their versions. KV accepts
    /// one write of the pointer per second, so waiting refreshes share the next publication.
    publishing: SingleFlight<Result<Refreshed>>,
    /// True once this process has compared its code with the code that published last.
    is_code_compared: Cell<bool>,
    /// When the pointer was last written, in milliseconds.
    pointed_at_ms: Cell<i64>,
    /// When the nearly used caps were last counted, in milliseconds, and their number.
    counted_caps: Cell<(i64, usize)>,
    imports: Imports,
    /// When a failed alarm is retried, in milliseconds; 0 if the last alarm succeeded.
    retry_at_ms: Cell<i64>,
}

impl<D, R> CatalogService<D, R>
where
    D: ObjectStorage,
    R: Clock + Random + Sleep + ObjectCall + Kv,
{
    pub fn new(name: Option<String>, storage: D, runtime: R, settings: Settings) -> Self {
        Self {
            shell: ObjectShell::new("catalog", name, storage, runtime, MIGRATIONS)
                .with_alarm_retry(RETRY_MS)
                .when_put_back(publication::publish_all),
            register: Register::default(),
            settings,
            publishing: SingleFlight::default(),
            is_code_compared: Cell::new(false),
            pointed_at_ms: Cell::new(0),
            counted_caps: Cell::default(),
            imports: Imports::default(),
            retry_at_ms: Cell::new(0),
        }
    }

    pub fn storage(&self) -> &D {
        self.shell.storage()
    }

    fn now_ms(&self) -> i64 {
        self.shell.runtime().now_ms()
    }

    /// Returns when the alarm must fire next. A failed alarm is retried after 5 seconds, and not earlier if a command
    /// comes in between.
    fn next_alarm(&self, db: &D) -> DbResult<i64> {
        Ok(next_alarm(db, self.now_ms())?.max(self.retry_at_ms.get()))
    }

    fn with_context<T>(&self, work: impl FnOnce(&Context<'_>) -> Result<T>) -> Result<T> {
        self.with_context_at(self.now_ms(), false, work)
    }

    fn with_context_at<T>(
        &self,
        now_ms: i64,
        is_repeat: bool,
        work: impl FnOnce(&Context<'_>) -> Result<T>,
    ) -> Result<T> {
        fn set<T>(setting: &Result<T, String>) -> Result<&T> {
            setting.as_ref().map_err(|error| Failure::Internal(error.clone()))
        }
        work(&Context {
            now_ms,
            random: &|| self.shell.runtime().random(),
            vault: set(&self.settings.vault)?,
            edge_vault: set(&self.settings.edge_vault)?,
            token_mac: set(&self.settings.token_mac)?,
            guard: &self.settings.guard,
            import: self.imports.in_turn(),
            is_repeat,
        })
    }

    /// Returns the queue of changes of one kind that their receivers do not have yet.
    fn queue<'a, P: Push>(&'a self, db: &'a D) -> PushQueue<'a, D, R, P> {
        PushQueue::new(db, self.shell.runtime())
    }

    fn kv_writer<'a>(&'a self, db: &'a D) -> KvWriter<'a, D, R> {
        KvWriter { db, runtime: self.shell.runtime() }
    }

    /// Carries out a command. A PUT of a publisher is answered once its account and its apps' outboxes know of a
    /// suspension. A PUT of an app is answered once its outboxes have the callback settings. A PUT of an offer is
    /// answered once the outboxes that pay for it have the changed conversion cap.
    pub async fn command(&self, command: Command) -> Result<OperatorReply> {
        let db = self.started().await?;
        if let Command::NearCaps(_) | Command::CountWaiting(_) = command {
            return self.caps(db, matches!(command, Command::CountWaiting(_))).await;
        }
        let change = change(&command);
        if change == Change::ShowsSecret {
            self.registers(db).await?;
        }
        let registered = delivery::register::last(db)?;
        let put_id = |resource| match &command {
            Command::Put(put) if put.resource == resource => Some(put.id.as_str()),
            _ => None,
        };
        let put_publisher = put_id(Resource::Publisher).and_then(PublisherId::parse);
        let put_app = put_id(Resource::App).and_then(AppId::parse);
        let put_offer = put_id(Resource::Offer).and_then(OfferId::parse);
        if let Command::Put(put) = &command
            && put_app.is_some()
        {
            self.claim_app(put).await?;
        }
        let own_app = match &command {
            Command::ChangeOwnApp(change) => Some(change.app_id),
            _ => None,
        };
        let is_new_app = matches!(command, Command::CreateOwnApp(_));
        let is_test_app = matches!(command, Command::PutTestApp(_));
        let reply = self
            .shell
            .command(
                |db, _| match command {
                    Command::Status(_) => publication::status(db, db.size()?),
                    command => self.with_context(|context| handle(db, context, command)),
                },
                |db, _| self.next_alarm(db).map(Some),
            )
            .await;
        match change {
            Change::Nothing => {}
            Change::Asks if delivery::register::last(db)? == registered => {}
            Change::ShowsSecret => drop(self.keep().await),
            // The register is written even after a refusal: an earlier call may have made the change and lost its
            // answer.
            Change::Asks | Change::Changes => self.keep().await?,
        }
        let reply = reply?;
        if is_new_app {
            self.claim_created(&reply).await;
        }
        if let Some(publisher) = put_publisher.filter(|_| reply.status == 200) {
            // A suspension is confirmed only once nobody can sign in.
            self.queue(db).require("publisher", account_sync::queued_of(db, &publisher)?).await?;
            let queued = callback_sync::settings_of_publisher(db, &publisher)?;
            self.queue(db).require("publisher", queued).await?;
        }
        if let Some(app) = put_app.filter(|_| reply.status == 200) {
            let queued = callback_sync::settings_of(db, app)?;
            self.queue(db).require("app", queued).await?;
        }
        if let Some(app) = own_app.or_else(|| claims::app_of(&reply).filter(|_| is_test_app)) {
            // The answer may have a secret that is shown only once, so an outbox that does not answer must not fail the
            // command. The alarm calls that outbox again.
            let queued = callback_sync::settings_of(db, app)?;
            if let Err(failure) = self.queue(db).require("app", queued).await {
                log::warn(
                    "catalog",
                    format_args!("app {app} is stored, but not all of its outboxes have its new settings: {failure}"),
                );
            }
        }
        if let Some(offer) = put_offer.filter(|_| reply.status == 200) {
            let queued = cap_sync::queued_of(db, &offer)?;
            self.queue(db).require("offer", queued).await?;
        }
        Ok(reply)
    }

    /// Finds caps that are nearly used up, or counts them for the console. Open pages of the console ask for the count
    /// often, so the count is reused.
    async fn caps(&self, db: &D, is_count: bool) -> Result<OperatorReply> {
        let (counted_ms, count) = self.counted_caps.get();
        if is_count && self.now_ms().saturating_sub(counted_ms) < COUNT_CAPS_MS {
            return reads::count_waiting(db, count);
        }
        let mut near = NearCaps::default();
        in_steps(self.shell.runtime(), || near.step(db, self.now_ms())).await?;
        self.counted_caps.set((self.now_ms(), near.count()));
        if is_count {
            return reads::count_waiting(db, near.count());
        }
        near.finish(db)
    }

    /// Reseals the values that are sealed with old keys, if a pass is due.
    async fn reseal_due(&self, db: &D) -> Result {
        if revisions::get(db, revisions::RESEAL_FROM)?.is_none() {
            return Ok(());
        }
        let mut pass = Resealing::default();
        in_steps(self.shell.runtime(), || self.with_context(|context| pass.step(db, context))).await
    }

    /// Returns the bytes of the snapshot, shard or chunk that a path names.
    ///
    /// # Errors
    /// 404 if there is none, or the database failed.
    pub async fn value(&self, path: &str) -> Result<Vec<u8>> {
        let db = self.started().await?;
        let bytes = if let Some(key) = path.strip_prefix(CHUNK_PATH) {
            publication::chunk_for_isolate(db, key, self.now_ms())?
        } else if let Some(slot) = path.strip_prefix(SHARD_PATH).and_then(Slot::parse) {
            Some(tracking_slots::for_isolate(db, slot, self.now_ms())?)
        } else {
            let kinds = [SnapshotKind::Tracking, SnapshotKind::Listing];
            let kind = kinds.into_iter().find(|kind| snapshot_path(*kind) == path);
            let newest = publication::newest(db, kind.ok_or(common::NOT_FOUND)?)?;
            return Ok(newest.ok_or(common::NOT_FOUND)?);
        };
        // The call above may have marked the chunk or the shard to be built or written again.
        self.shell.wake_by(self.next_alarm(db)?)?;
        Ok(bytes.ok_or(common::NOT_FOUND)?)
    }

    /// Pushes due callback settings, caps, suspensions and messages about publishers, finishes a decided import,
    /// reseals secrets, and publishes. Each step is done even if another fails.
    pub async fn alarm(&self) {
        self.shell
            .wake(async |db| {
                self.started().await?;
                let resumed_and_published = async {
                    let resumed = self.resume_import(db).await.and(self.reseal_due(db).await);
                    self.publish_due(db).await.and(resumed)
                };
                let (pushed, told, capped, raised, published) = join5(
                    self.queue::<QueuedSettings>(db).send_due(),
                    self.queue::<Suspend>(db).send_due(),
                    self.queue::<QueuedCap>(db).send_due(),
                    self.queue::<Waiting>(db).send_due(),
                    resumed_and_published,
                )
                .await;
                let sent = pushed.and(told).and(capped).and(raised);
                let done = sent.and(published).and(self.keep().await);
                delivery::register::sweep(db, self.now_ms())?;
                let retry_at_ms = self.now_ms().saturating_add(RETRY_MS);
                self.retry_at_ms.set(if done.is_err() { retry_at_ms } else { 0 });
                done?;
                Ok(Some(self.next_alarm(db)?))
            })
            .await;
        size::tell(&self.shell, Some(OBJECT_NAME)).await;
    }
}
