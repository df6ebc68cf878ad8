//! Objects of one kind that did not answer, one after the other. One of them says little: it may be busy, or move. Several
//! in a row, of different owners, with none that answered in between, say that their kind is not there.

use std::collections::BTreeSet;

use crate::time::MINUTE_MS;

/// How many owners it takes.
const MANY: usize = 3;
/// How long nothing may be heard before it says nothing any more, in milliseconds: whoever sends no requests for what was
/// said of it would never hear that it is over.
const LASTS_MS: i64 = MINUTE_MS;

/// Who was not answered since somebody was.
#[derive(Debug, Default)]
pub struct Silence {
    owners: BTreeSet<String>,
    last_ms: i64,
}

impl Silence {
    /// An owner's object was asked something.
    pub fn note(&mut self, owner: &str, answered: bool, now_ms: i64) {
        if answered || now_ms.saturating_sub(self.last_ms) > LASTS_MS {
            self.owners.clear();
        }
        if !answered {
            self.last_ms = now_ms;
            if self.owners.len() < MANY {
                self.owners.insert(owner.to_owned());
            }
        }
    }

    /// Whether the last that was asked did not answer.
    pub fn is_one(&self, now_ms: i64) -> bool {
        !self.owners.is_empty() && now_ms.saturating_sub(self.last_ms) <= LASTS_MS
    }

    /// Whether several in a row did not.
    pub fn is_general(&self, now_ms: i64) -> bool {
        self.is_one(now_ms) && self.owners.len() >= MANY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_owners_in_a_row_are_many_and_one_of_them_often_is_not() {
        let mut silence = Silence::default();
        assert!(!silence.is_one(0));
        for now_ms in 0..10 {
            silence.note("a", false, now_ms);
        }
        assert!(silence.is_one(10) && !silence.is_general(10));
        silence.note("b", false, 10);
        assert!(!silence.is_general(10));
        silence.note("c", false, 11);
        assert!(silence.is_general(11));
        silence.note("d", false, 12);
        assert!(silence.is_general(12));
        silence.note("b", true, 13);
        assert!(!silence.is_one(13));
    }

    #[test]
    fn what_was_long_ago_says_nothing() {
        let mut silence = Silence::default();
        for owner in ["a", "b", "c"] {
            silence.note(owner, false, 0);
        }
        assert!(silence.is_general(LASTS_MS));
        assert!(!silence.is_one(LASTS_MS + 1));
        // Nor does it count with what is new.
        silence.note("d", false, LASTS_MS + 1);
        assert!(silence.is_one(LASTS_MS + 1) && !silence.is_general(LASTS_MS + 1));
    }
}
