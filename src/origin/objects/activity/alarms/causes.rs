//! Turns other objects' batches into causes of alarms, in the transaction that applies the batch.

use super::raise_new;
use contract::{
    alarms::{Alarm, AlarmKind},
    outbox::EndpointState,
};
use domain::model::{AppId, PublisherId};
use platform::{Database, DbResult};

/// The subject for the rewards of all apps, so that many rewards that are given up at once make one alarm.
const REWARDS: &str = "rewards";

/// The time of a batch and, for the operator's alarms, the publisher of the batch.
#[derive(Clone, Copy)]
pub struct Noted<'p> {
    pub now_ms: i64,
    pub publisher: Option<&'p PublisherId>,
}

impl Noted<'_> {
    /// Returns an alarm with one cause, at [`Self::now_ms`].
    pub fn alarm(self, kind: AlarmKind, subject: impl ToString, since_ms: i64) -> Alarm {
        Alarm {
            kind,
            subject: subject.to_string(),
            cause: self.now_ms,
            since_ms,
            count: 1,
            publisher: self.publisher.cloned(),
        }
    }

    /// Notes a change of an app's endpoint. `before` and `after` are the endpoint's worst states over all outboxes,
    /// before and after the batch.
    pub fn endpoint(
        self,
        db: &impl Database,
        app: AppId,
        (before, after): (EndpointState, EndpointState),
        since_ms: i64,
    ) -> DbResult {
        let is_well = |state| matches!(state, EndpointState::None | EndpointState::Healthy);
        let kind = match after {
            _ if before == after => return Ok(()),
            EndpointState::Disabled => AlarmKind::EndpointDisabled,
            EndpointState::Failing if is_well(before) => AlarmKind::EndpointFailing,
            EndpointState::Healthy if !is_well(before) => AlarmKind::EndpointRecovered,
            _ => return Ok(()),
        };
        raise_new(db, self.now_ms, self.alarm(kind, app, since_ms))
    }

    /// Notes rewards that were given up: the increase of an outbox's count from `before` to `after`.
    pub fn given_up(self, db: &impl Database, before: i64, after: i64) -> DbResult {
        let count = after.saturating_sub(before);
        if count <= 0 {
            return Ok(());
        }
        let alarm = self.alarm(AlarmKind::RewardGivenUp, REWARDS, self.now_ms);
        raise_new(db, self.now_ms, Alarm { count, ..alarm })
    }
}
