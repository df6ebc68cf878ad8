//! Pushes queued callback settings to the outboxes, in the operator's call that changed them and in the alarm.

use std::time::Duration;

use futures_util::{
    StreamExt,
    future::{Either, select},
    stream,
};

use super::queue::{self, FIRST_PUSH_MS, QueuedSettings};
use domain::model::{AppId, api_error::common};
use platform::{
    CONNECTIONS,
    database::Database,
    failure::Failure,
    log,
    traits::{Clock, ObjectCall, Sleep},
};

/// Pushes in flight at a time.
const PAGE: u32 = 48;
/// The time that a call or an alarm spends on pushes. A push that is in flight at its end stays due.
const TIME: Duration = Duration::from_secs(10);
/// The timeout of a call to an outbox. It is short because others wait.
const OUTBOX_TIMEOUT: Duration = Duration::from_secs(5);

/// Pushes from the queue in `db`.
pub struct CallbackPush<'a, D, R> {
    pub db: &'a D,
    pub runtime: &'a R,
}

impl<D: Database, R: Clock + Sleep + ObjectCall> CallbackPush<'_, D, R> {
    /// Pushes the queued settings of one app, for a PUT of the app.
    ///
    /// # Errors
    /// 503 if an outbox did not take them: the operator may rely on a callback only once it is in use.
    pub async fn push_app(&self, app: AppId) -> Result<(), Failure> {
        let queued = queue::settings_of(self.db, app)?;
        let all = queued.len();
        let outcomes = self.push_all(queued).await?;
        let taken = outcomes.into_iter().filter(|taken| *taken).count();
        if taken == all {
            return Ok(());
        }
        let message = format!(
            "the app is kept as it was put, but {taken} of the {all} outboxes whose callbacks must go by its new settings \
             have them; the others get them as soon as that can be done, and the PUT may be repeated"
        );
        Err(common::UNAVAILABLE.with_message(message).into())
    }

    /// Pushes the settings that an import has changed, within the time limit; the alarm pushes the rest.
    pub async fn push_imported(&self) -> Result<(), Failure> {
        let by_ms = self.runtime.now_ms().saturating_add(FIRST_PUSH_MS);
        self.within_time_limit(async {
            while self.push_page(by_ms).await? {}
            Ok(())
        })
        .await
    }

    /// Pushes the due settings, for the alarm.
    pub async fn push_due(&self) -> Result<(), Failure> {
        self.within_time_limit(async { self.push_page(self.runtime.now_ms()).await.map(drop) })
            .await
    }

    async fn within_time_limit(
        &self,
        work: impl Future<Output = Result<(), Failure>>,
    ) -> Result<(), Failure> {
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
    async fn push_page(&self, by_ms: i64) -> Result<bool, Failure> {
        let claimed = queue::claim(self.db, self.runtime.now_ms(), by_ms, PAGE)?;
        let any = !claimed.is_empty();
        self.push_all(claimed).await?;
        Ok(any)
    }

    /// Returns for each whether the outbox has the settings.
    async fn push_all(&self, queued: Vec<QueuedSettings>) -> Result<Vec<bool>, Failure> {
        let pushes = stream::iter(queued)
            .map(|due| self.push(due))
            .buffer_unordered(CONNECTIONS);
        let outcomes: Vec<_> = pushes.collect().await;
        outcomes.into_iter().collect()
    }

    /// Returns whether the outbox has the settings.
    async fn push(&self, due: QueuedSettings) -> Result<bool, Failure> {
        let QueuedSettings { shard, settings } = due;
        let revision = settings.revision;
        match self
            .runtime
            .call(&shard.address(), settings, OUTBOX_TIMEOUT)
            .await
        {
            Ok(_) => {
                queue::confirm(self.db, shard, revision)?;
                Ok(true)
            }
            Err(error) => {
                log::warn(
                    "catalog",
                    format_args!("callback settings of {}: {error}", shard.object_name()),
                );
                Ok(false)
            }
        }
    }
}
