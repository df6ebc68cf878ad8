//! The publisher of the ledger and the names of its apps, from the catalog.

use std::{collections::BTreeMap, time::Duration};

use super::LedgerService;
use crate::objects::ledger::names;
use contract::{
    catalog,
    operation::{CallError, Unanswered},
};
use domain::model::{AppId, PublisherId, SECOND_MS, common};
use platform::{Clock, ObjectCall, ObjectStorage, Random, Result, log};

/// The timeout of a call for app names. Without an answer a report uses the stored names.
const NAMES_TIMEOUT: Duration = Duration::from_millis(1_500);
const NAMES_RETRY_MS: i64 = 10 * SECOND_MS;

impl<D: ObjectStorage, R: Clock + Random + ObjectCall> LedgerService<D, R> {
    /// Checks with the catalog that the publisher exists, and caches its apps' names. Publishers are never deleted, so
    /// one confirmation is enough while the catalog does not answer.
    pub(super) async fn require_publisher(&self, publisher: &PublisherId, timeout: Duration) -> Result {
        let now_ms = self.now_ms();
        let confirmed_at_ms = self.confirmed_at_ms.get();
        if confirmed_at_ms.is_some_and(|at_ms| now_ms.saturating_sub(at_ms) < names::FRESH_MS) {
            return Ok(());
        }
        match self.app_names(publisher, timeout).await {
            Ok(names) => {
                self.names.replace(Some(names));
                self.confirmed_at_ms.set(Some(now_ms));
                Ok(())
            }
            Err(CallError::Refused { status: 404, .. }) => {
                Err(common::NOT_FOUND.with_message(format!("no publisher has the id {publisher}")).into())
            }
            Err(_) if confirmed_at_ms.is_some() => Ok(()),
            Err(error) => {
                log::error("ledger", format_args!("the catalog did not confirm publisher {publisher}: {error}"));
                Err(common::UNAVAILABLE.into())
            }
        }
    }

    /// Reads the names of the publisher's apps from the catalog.
    async fn app_names(
        &self,
        publisher: &PublisherId,
        timeout: Duration,
    ) -> Result<BTreeMap<String, String>, CallError> {
        let catalog = catalog::address(catalog::COMMAND_PATH);
        let mut names = BTreeMap::new();
        loop {
            let page = catalog::AppNames {
                publisher_id: publisher.to_string(),
                after: names.last_key_value().map(|(app, _): (&String, _)| app.clone()),
            };
            let reply = self.shell.runtime().call(&catalog, page, timeout).await?;
            let page: BTreeMap<String, String> =
                serde_json::from_str(&reply.body).map_err(|_| Unanswered::default())?;
            let is_last = page.len() < catalog::APP_NAMES_PAGE;
            names.extend(page);
            if is_last {
                // Facts never contain test apps.
                names.retain(|app, _| !AppId::parse(app).is_some_and(AppId::is_test));
                return Ok(names);
            }
        }
    }

    /// Updates app names older than a minute if the catalog answers soon; otherwise the stored names are used.
    pub(super) async fn refresh_names(&self, db: &D, publisher: &PublisherId) {
        let now_ms = self.now_ms();
        if now_ms < self.names_wait_until_ms.get() {
            return;
        }
        let confirmed = self.require_publisher(publisher, NAMES_TIMEOUT).await;
        if let Err(failure) = confirmed.and_then(|()| self.store_names(db)) {
            log::error("ledger", format_args!("the names of apps were not refreshed: {failure}"));
            self.names_wait_until_ms.set(now_ms + NAMES_RETRY_MS);
        }
    }

    pub(super) fn store_names(&self, db: &D) -> Result {
        let names = self.names.borrow().clone();
        if let Some(names) = names {
            names::store(db, &names)?;
            self.names.replace(None);
        }
        Ok(())
    }
}
