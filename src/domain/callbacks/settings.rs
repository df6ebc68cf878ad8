//! The callback settings in an app's document: the endpoint and its secrets.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::fields::Status;

/// The endpoint of completion callbacks and its secrets (docs/DECISIONS.md, "Completion callbacks").
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Callback {
    /// The URL, which may have macros if the method is GET.
    pub url: String,
    /// The method of every request.
    pub method: CallbackMethod,
    /// The signing secret: `whsec_` and base64.
    pub secret: String,
    /// The previous secret. While it is present, callbacks are signed with both secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_secret: Option<String>,
    /// If present, callbacks also carry an MD5 signature for older receivers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub legacy_md5: Option<LegacyMd5>,
    /// The events that the publisher is told about; approved and reversed if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<Status>>,
}

/// The events that a publisher is told about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Events {
    /// A reward was paid.
    pub approved: bool,
    /// A paid reward was taken back.
    pub reversed: bool,
    /// A conversion is waiting and not paid yet.
    pub pending: bool,
    /// A waiting conversion was rejected.
    pub rejected: bool,
}

impl Events {
    /// Tells the publisher nothing.
    pub const NONE: Self = Self { approved: false, reversed: false, pending: false, rejected: false };

    /// True if the publisher is told about this event.
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
    /// The configured events, or the default if none are configured.
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
        f.debug_struct("Callback").field("url", &self.url).field("method", &self.method).finish_non_exhaustive()
    }
}

/// The HTTP method of a callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallbackMethod {
    /// The fields are in the query.
    #[serde(rename = "GET")]
    Get,
    /// The fields are a JSON body.
    #[serde(rename = "POST")]
    Post,
}

/// The signature for older receivers: [`legacy_md5`](super::signature::legacy_md5).
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LegacyMd5 {
    /// The secret that is hashed together with the fields, of 1 to 200 characters.
    pub secret: String,
}

impl fmt::Debug for LegacyMd5 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LegacyMd5")
    }
}

/// Maximum bytes of a URL that is called: half of what common servers accept for a request's line and headers.
pub(super) const MAX_URL: usize = 4_096;
/// The operator's interface shows this in place of a secret. It is not a valid secret, so a document that is read and
/// sent back unchanged can never overwrite a secret with the mask.
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
                assert_eq!(chosen.contains(status), told.contains(&status), "{events:?} {status:?}");
                assert!(!Events::NONE.contains(status));
            }
        }
    }
}
