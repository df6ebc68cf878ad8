//! The callback settings in an app's document: the endpoint and its secrets.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::fields::Status;

/// The endpoint of completion callbacks and its secrets (docs/DECISIONS.md, "Completion callbacks").
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Callback {
    pub url: String,
    pub method: CallbackMethod,
    pub secret: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_secret: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub legacy_md5: Option<LegacyMd5>,
    /// The events of which the publisher is told; approved and reversed if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<Status>>,
}

/// The events of which a publisher is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Events {
    pub approved: bool,
    pub reversed: bool,
    pub pending: bool,
    pub rejected: bool,
}

impl Events {
    pub const NONE: Self = Self {
        approved: false,
        reversed: false,
        pending: false,
        rejected: false,
    };

    pub fn contains(self, status: Status) -> bool {
        match status {
            Status::Approved => self.approved,
            Status::Reversed => self.reversed,
            Status::Pending => self.pending,
            Status::Rejected => self.rejected,
        }
    }
}

impl Callback {
    pub fn events(&self) -> Events {
        let default = [Status::Approved, Status::Reversed];
        let events = self.events.as_deref().unwrap_or(&default);
        let has = |status| events.contains(&status);
        Events {
            approved: has(Status::Approved),
            reversed: has(Status::Reversed),
            pending: has(Status::Pending),
            rejected: has(Status::Rejected),
        }
    }
}

impl fmt::Debug for Callback {
    /// Omits the secrets, since a document may be logged.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Callback")
            .field("url", &self.url)
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallbackMethod {
    #[serde(rename = "GET")]
    Get,
    #[serde(rename = "POST")]
    Post,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LegacyMd5 {
    pub secret: String,
}

impl fmt::Debug for LegacyMd5 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LegacyMd5")
    }
}

/// The operator's interface shows this in place of a secret. It is not a valid secret, so a document that is read and
/// sent back unchanged is refused instead of losing its secret.
pub const MASKED_SECRET: &str = "********";

#[cfg(test)]
mod tests {
    use super::*;

    fn callback(events: Option<Vec<Status>>) -> Callback {
        Callback {
            url: "https://x.example/cb".into(),
            method: CallbackMethod::Get,
            secret: "whsec_secret".into(),
            previous_secret: None,
            legacy_md5: None,
            events,
        }
    }

    #[test]
    fn a_publisher_is_told_of_the_events_it_names_and_of_rewards_without_a_list() {
        use Status::{Approved, Pending, Rejected, Reversed};
        for (events, told) in [
            (None, vec![Approved, Reversed]),
            (Some(vec![Approved]), vec![Approved]),
            (Some(vec![Pending, Rejected]), vec![Pending, Rejected]),
            (Some(Status::ALL.to_vec()), Status::ALL.to_vec()),
        ] {
            let chosen = callback(events.clone()).events();
            for status in Status::ALL {
                assert_eq!(
                    chosen.contains(status),
                    told.contains(&status),
                    "{events:?} {status:?}"
                );
                assert!(!Events::NONE.contains(status));
            }
        }
    }
}
