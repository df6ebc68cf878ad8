//! Receivers of alarms, which keep the alarms that they get.

use std::{cell::RefCell, time::Duration};

use contract::{
    alarms::{Alarm, RaiseAlarms},
    operation::{CallError, ObjectAddress, Operation, Unanswered},
};
use platform::traits::{Clock, ObjectCall};

/// A clock that stands, and the activity and attention objects.
pub struct Told {
    now_ms: i64,
    is_down: bool,
    /// The receivers, and what each was told.
    pub raised: RefCell<Vec<(String, Alarm)>>,
}

impl Told {
    pub fn new(now_ms: i64, is_down: bool) -> Self {
        Self { now_ms, is_down, raised: RefCell::default() }
    }
}

impl Clock for Told {
    fn now_ms(&self) -> i64 {
        self.now_ms
    }
}

impl ObjectCall for Told {
    async fn call<O: Operation>(
        &self,
        to: &ObjectAddress,
        operation: O,
        _timeout: Duration,
    ) -> Result<O::Answer, CallError> {
        if self.is_down {
            return Err(CallError::Unanswered(Unanswered::default()));
        }
        let raise: RaiseAlarms = serde_json::from_value(serde_json::to_value(&operation).unwrap()).unwrap();
        let alarms = raise.alarms.into_iter();
        self.raised.borrow_mut().extend(alarms.map(|alarm| (to.name.clone(), alarm)));
        Ok(serde_json::from_str("{}").unwrap())
    }
}
