//! Handing callback settings over to the outboxes: by the operator's call that changed them, and by the alarm.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use worker::Env;

use super::handover::{self, Handover, OWN_TRY_MS};
use crate::{
    catalog::AppId,
    log,
    origin::{CONNECTIONS, command::Failure, durable::DurableDatabase, outbox},
    refusal::common,
    runtime::{self, within},
};

/// Hand-overs begun at a time.
const PAGE: u32 = 48;
/// How long a call or an alarm hands over. What is on its way then stays due.
const TIME: Duration = Duration::from_secs(10);

/// The catalog's settings on their way out.
pub struct HandingOver<'a> {
    pub env: &'a Env,
    pub db: &'a DurableDatabase,
}

impl HandingOver<'_> {
    /// Hands over what a PUT of an app has changed, or one before it.
    ///
    /// # Errors
    /// 503 if the outbox could not be told: the operator may rest on a callback only once it is in use.
    pub async fn app(&self, app: AppId) -> Result<(), Failure> {
        let Some(due) = handover::of_app(self.db, app)? else {
            return Ok(());
        };
        if self.hand_over(due).await? {
            return Ok(());
        }
        Err(common::UNAVAILABLE
            .because(
                "the app is kept as it was put, but its callbacks do not go by the new settings yet; these will be handed \
                 over as soon as that can be done, and the PUT may be repeated",
            )
            .into())
    }

    /// Hands over what an import has changed, as far as time allows; the rest is the alarm's.
    pub async fn imported(&self) -> Result<(), Failure> {
        let by_ms = runtime::now_ms().saturating_add(OWN_TRY_MS);
        self.in_time(async {
            while self.page(by_ms).await? {}
            Ok(())
        })
        .await
    }

    /// Hands over what is due: the alarm's work.
    pub async fn due(&self) -> Result<(), Failure> {
        self.in_time(async { self.page(runtime::now_ms()).await.map(drop) })
            .await
    }

    async fn in_time(&self, work: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
        within(TIME, work).await.unwrap_or_else(|late| {
            log::warn("catalog", format_args!("handing over: {late}"));
            Ok(())
        })
    }

    /// Tries a page of what is due at `by_ms` or before. Returns whether there was anything.
    async fn page(&self, by_ms: i64) -> Result<bool, Failure> {
        let claimed = handover::claim(self.db, runtime::now_ms(), by_ms, PAGE)?;
        let any = !claimed.is_empty();
        let tries = stream::iter(claimed)
            .map(|due| self.hand_over(due))
            .buffer_unordered(CONNECTIONS);
        let outcomes: Vec<_> = tries.collect().await;
        outcomes.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(any)
    }

    /// Returns whether the outbox has the settings.
    async fn hand_over(&self, due: Handover) -> Result<bool, Failure> {
        match outbox::client::tell(self.env, due.app, &due.settings).await {
            Ok(()) => {
                handover::told(self.db, due.app, due.settings.revision)?;
                Ok(true)
            }
            Err(error) => {
                log::warn(
                    "catalog",
                    format_args!("handing over to app {}: {error}", due.app),
                );
                Ok(false)
            }
        }
    }
}
