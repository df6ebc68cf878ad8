//! Tells the operator's attention of each new publisher that waits for approval. Tells the activity object of a closed
//! publisher to remove the publisher's alarm address. The transaction that stores the publisher queues the message, and
//! the alarm sends it ([`push`](crate::delivery::push)).

use super::sql;
use crate::delivery::push::{FIRST_PUSH_MS, Push};
use contract::{
    activity,
    alarms::{Alarm, AlarmKind, RaiseAlarms},
    attention,
    operation::ObjectAddress,
};
use domain::{catalog::publisher::Publisher, model::PublisherId};
use platform::{Database, DbResult, Row, database::Value, params};

/// A publisher that waits for approval, or was closed.
pub struct Waiting {
    publisher: PublisherId,
    since_ms: i64,
    is_closed: bool,
}

impl Push for Waiting {
    type Operation = RaiseAlarms;
    const NAME: &'static str = "an alarm about a waiting or closed publisher";
    const REACHED: &'static str = "the operator knows of it";
    const LIST_DUE: &'static str = sql::LIST_DUE_WAITING;
    const NEXT_DUE: &'static str = sql::GET_NEXT_DUE_WAITING;
    const POSTPONE: &'static str = sql::POSTPONE_WAITING;
    const CONFIRM: &'static str = sql::UNQUEUE_WAITING;

    fn read(row: &Row) -> DbResult<Self> {
        Ok(Self { publisher: row.parse(0, PublisherId::parse)?, since_ms: row.integer(1)?, is_closed: row.boolean(2)? })
    }

    fn key(&self) -> Vec<Value> {
        vec![self.publisher.as_str().into()]
    }

    fn version(&self) -> Vec<Value> {
        vec![self.since_ms.into()]
    }

    fn receiver(&self) -> ObjectAddress {
        if self.is_closed { activity::address(&self.publisher) } else { attention::address() }
    }

    fn operation(&self) -> RaiseAlarms {
        if self.is_closed {
            return RaiseAlarms { alarms: vec![], ends: true };
        }
        let alarm = Alarm {
            kind: AlarmKind::PublisherWaiting,
            subject: self.publisher.to_string(),
            // A publisher is new only once, so a second message with this cause is a retry.
            cause: 1,
            since_ms: self.since_ms,
            count: 1,
            publisher: Some(self.publisher.clone()),
        };
        vec![alarm].into()
    }
}

/// Queues a new unapproved publisher or a closed publisher, and removes an approved publisher, within the caller's
/// transaction.
pub fn note(db: &impl Database, now_ms: i64, id: &str, publisher: &Publisher, is_new: bool) -> DbResult {
    if publisher.approved {
        return db.execute(sql::END_WAITING, params![id]);
    }
    if is_new != publisher.closed {
        let due_at_ms = now_ms.saturating_add(FIRST_PUSH_MS);
        db.execute(sql::QUEUE_WAITING, params![id, now_ms, publisher.closed, due_at_ms])?;
    }
    Ok(())
}
