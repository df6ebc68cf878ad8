//! Pushes callback settings to the outboxes: by the operator's call that changed them, and by the alarm.

use std::time::Duration;

use futures_util::{
    StreamExt,
    future::{Either, select},
    stream,
};

use super::queue::{self, Handover, OWN_TRY_MS};
use contract::outbox;
use domain::model::{AppId, api_error::common};
use platform::{
    CONNECTIONS,
    database::Database,
    failure::Failure,
    log,
    traits::{Clock, ObjectCall, Sleep},
};

/// Pushes begun at a time.
const PAGE: u32 = 48;
/// The time that a call or an alarm spends on pushes. One that is under way then stays due.
const TIME: Duration = Duration::from_secs(10);
/// An outbox's time to answer: others wait for theirs.
const OUTBOX_TIMEOUT: Duration = Duration::from_secs(5);

/// The queue, and the runtime to push with.
pub struct CallbackPush<'a, D, R> {
    pub db: &'a D,
    pub runtime: &'a R,
}

impl<D: Database, R: Clock + Sleep + ObjectCall> CallbackPush<'_, D, R> {
    /// Pushes the settings that a PUT of an app has changed, or one before it.
    ///
    /// # Errors
    /// 503 if the outbox did not take them: the operator may rely on a callback only once it is in use.
    pub async fn app(&self, app: AppId) -> Result<(), Failure> {
        let Some(due) = queue::of_app(self.db, app)? else {
            return Ok(());
        };
        if self.push(due).await? {
            return Ok(());
        }
        Err(common::UNAVAILABLE
            .with_message(
                "the app is kept as it was put, but its callbacks do not go by the new settings yet; these will be handed \
                 over as soon as that can be done, and the PUT may be repeated",
            )
            .into())
    }

    /// Pushes the settings that an import has changed, as far as time allows; the rest is left to the alarm.
    ///
    /// # Errors
    /// The database failed.
    pub async fn imported(&self) -> Result<(), Failure> {
        let by_ms = self.runtime.now_ms().saturating_add(OWN_TRY_MS);
        self.in_time(async {
            while self.page(by_ms).await? {}
            Ok(())
        })
        .await
    }

    /// Pushes the settings that are due: the alarm's work.
    ///
    /// # Errors
    /// The database failed.
    pub async fn due(&self) -> Result<(), Failure> {
        self.in_time(async { self.page(self.runtime.now_ms()).await.map(drop) })
            .await
    }

    async fn in_time(&self, work: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
        match select(Box::pin(work), Box::pin(self.runtime.sleep(TIME))).await {
            Either::Left((done, _)) => done,
            Either::Right(_) => {
                log::warn(
                    "catalog",
                    format_args!("callback settings: not all pushed within {TIME:?}"),
                );
                Ok(())
            }
        }
    }

    /// Pushes a page of the settings that are due at `by_ms` or before. Returns whether there were any.
    async fn page(&self, by_ms: i64) -> Result<bool, Failure> {
        let claimed = queue::claim(self.db, self.runtime.now_ms(), by_ms, PAGE)?;
        let any = !claimed.is_empty();
        let pushes = stream::iter(claimed)
            .map(|due| self.push(due))
            .buffer_unordered(CONNECTIONS);
        let outcomes: Vec<_> = pushes.collect().await;
        outcomes.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(any)
    }

    /// Returns whether the outbox has the settings.
    async fn push(&self, due: Handover) -> Result<bool, Failure> {
        let (outbox, revision) = (outbox::address(due.app), due.settings.revision);
        match self.runtime.call(&outbox, due.settings, OUTBOX_TIMEOUT).await {
            Ok(_) => {
                queue::told(self.db, due.app, revision)?;
                Ok(true)
            }
            Err(error) => {
                log::warn(
                    "catalog",
                    format_args!("callback settings of app {}: {error}", due.app),
                );
                Ok(false)
            }
        }
    }
}
