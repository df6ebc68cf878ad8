//! Conversions that wait for the cap, for terms that the catalog has lost, or for the end of a hold.

use std::rc::Rc;

use super::{OutboxService, Runtime};
use crate::objects::outbox::{
    callbacks::delivery_log::Observer,
    conversions::{commit, kept, steps},
    endpoint,
};
use contract::outbox::{Conversion, OutboxShard};
use platform::{ObjectStorage, panics_to_failure};

impl<D: ObjectStorage + 'static, R: Runtime + 'static, O: Observer + 'static> OutboxService<D, R, O> {
    /// Resumes reservations whose requests ended before the cap was taken, frees the claims of refused conversions, and
    /// decides conversions that waited for terms or for the end of a hold.
    pub(super) async fn resume_overdue(self: Rc<Self>) {
        if self.is_resuming.replace(true) {
            return;
        }
        loop {
            self.must_resume.set(false);
            let resumed = panics_to_failure(async {
                let db = self.shell.storage();
                if let Some(state) = endpoint::read(db)? {
                    self.wait_for_start(state.shard, None).await?;
                }
                let has_more = commit::resume_overdue(db, &*self).await?;
                let convert = async |conversion: &Conversion| {
                    let shard = OutboxShard::new(conversion.click.app, conversion.click.shard);
                    self.convert(shard, conversion).await
                };
                let has_more = has_more | kept::decide_due(db, &*self, convert).await?;
                Ok(has_more | steps::release_step(db, &*self, convert).await?)
            });
            let resumed = resumed.await;
            self.start_due();
            match resumed {
                Ok(has_more) if has_more || self.must_resume.get() => {}
                Ok(_) => break,
                Err(failure) => {
                    platform::log::warn("outbox", format_args!("waiting conversions could not be resumed: {failure}"));
                    break;
                }
            }
        }
        self.is_resuming.set(false);
    }
}
