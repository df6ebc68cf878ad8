//! The exports of a ledger that are being read. Each needs reports from the ledger until its reader is done, so only a
//! few are allowed at a time.

use std::cell::RefCell;

use domain::model::{ApiError, MINUTE_MS};

/// Maximum exports at a time. The origin Worker holds a piece of 1 MiB for each.
const SLOTS: usize = 4;
/// An export whose reader requests no piece for this long counts as abandoned. A reader with 140 kbit/s requests the
/// next piece of 1 MiB in time.
const LEASE_MS: i64 = MINUTE_MS;

/// The export is not spent and can be read later.
pub const TOO_MANY_EXPORTS: ApiError =
    ApiError::new(429, "too_many_exports", "too many exports at once").retry_after(15);

/// The slots are in memory: a restart of the object frees them.
#[derive(Default)]
pub struct ExportSlots {
    /// The ids of the exports, and when the last piece of each was made, in milliseconds.
    reading: RefCell<Vec<(String, i64)>>,
}

impl ExportSlots {
    /// Takes a slot for an export, or renews the slot that the export has. Returns whether the slot is new.
    ///
    /// # Errors
    /// Other exports have all slots.
    pub fn hold(&self, export_id: &str, now_ms: i64) -> Result<bool, ApiError> {
        let mut reading = self.reading.borrow_mut();
        let is_new = reading.iter().all(|(id, _)| id != export_id);
        reading.retain(|(id, at_ms)| id != export_id && now_ms.saturating_sub(*at_ms) < LEASE_MS);
        if reading.len() >= SLOTS {
            return Err(TOO_MANY_EXPORTS);
        }
        reading.push((export_id.to_owned(), now_ms));
        Ok(is_new)
    }

    /// Checks that another export may be read.
    ///
    /// # Errors
    /// All slots are taken.
    pub fn check(&self, now_ms: i64) -> Result<(), ApiError> {
        self.hold("", now_ms)?;
        self.free("");
        Ok(())
    }

    pub fn free(&self, export_id: &str) {
        self.reading.borrow_mut().retain(|(id, _)| id != export_id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_exports_are_read_at_a_time_and_an_abandoned_one_makes_way() {
        let slots = ExportSlots::default();
        for id in ["a", "b", "c", "d", "a"] {
            slots.hold(id, 1_000).unwrap();
        }
        assert_eq!(slots.hold("e", 1_000), Err(TOO_MANY_EXPORTS));
        assert_eq!(slots.check(1_000), Err(TOO_MANY_EXPORTS));
        slots.free("b");
        slots.check(2_000).unwrap();
        slots.hold("e", 2_000).unwrap();
        slots.hold("d", 30_000).unwrap();
        assert_eq!(slots.hold("f", 60_999), Err(TOO_MANY_EXPORTS));
        slots.hold("f", 61_000).unwrap();
        slots.hold("d", 61_000).unwrap();
    }
}
