//! Claims of new apps at their first outboxes ([`app_claims`]).

use serde::Deserialize;

use super::CatalogService;
use crate::objects::catalog::{
    app_claims::{self, NewApp},
    resources,
};
use contract::{catalog::Put, operation::OperatorReply};
use domain::{catalog::own_app, model::AppId};
use platform::{Clock, Kv, ObjectCall, ObjectStorage, Random, Result, Sleep, log};

#[derive(Deserialize)]
struct Created {
    app_id: String,
}

/// The app of the answer to its creation.
pub(super) fn app_of(created: &OperatorReply) -> Option<AppId> {
    let Created { app_id } = serde_json::from_str(&created.body).ok()?;
    AppId::parse(&app_id)
}

impl<D, R> CatalogService<D, R>
where
    D: ObjectStorage,
    R: Clock + Random + Sleep + ObjectCall + Kv,
{
    /// Claims a new app at its first outbox. A PUT that would be refused claims nothing.
    pub(super) async fn claim_app(&self, put: &Put) -> Result {
        let db = self.shell.ready().await?;
        let Some(new) = app_claims::new_app(db, &put.id, &put.body, 0)? else {
            return Ok(());
        };
        self.with_context(|context| resources::would_put(db, context, put.resource, &put.id, &put.body))?;
        match app_claims::claim(self.shell.runtime(), [new], true).await?.pop() {
            Some((_, refusal)) => Err(refusal.into()),
            None => Ok(()),
        }
    }

    /// Claims an app that a member has just created. A failure is only logged: an error would replace the answer to the
    /// creation, which shows the app's secret only once. That is safe: the app has the default number of outboxes and a
    /// new id.
    pub(super) async fn claim_created(&self, created: &OperatorReply) {
        if let Some(app) = app_of(created) {
            let new = NewApp { app, outbox_shards: own_app::NewApp::outboxes(app.is_test()), line: 0 };
            if let Err(failure) = app_claims::claim(self.shell.runtime(), [new], true).await {
                log::warn("catalog", format_args!("the outboxes of app {app} were not claimed: {failure}"));
            }
        }
    }
}
