//! Alarms: signed webhooks that tell a publisher or the operator of a problem. A publisher's
//! [`activity`](crate::activity) object sends that publisher's alarms. The [`attention`](crate::attention) object sends
//! the operator's.

use serde::{Deserialize, Serialize};

use crate::stored_names::stored_names;
use domain::model::PublisherId;

stored_names! {
    /// The event that an alarm reports.
    AlarmKind {
        /// Five callbacks of an app have failed in a row.
        EndpointFailing = 1 "endpoint.failing",
        /// The receiver of an app's callbacks has told Signpost to stop.
        EndpointDisabled = 2 "endpoint.disabled",
        /// An app's endpoint is healthy again: a callback was delivered, or somebody enabled the endpoint.
        EndpointRecovered = 3 "endpoint.recovered",
        /// The last attempt of a reward's callback has failed.
        RewardGivenUp = 4 "reward.given_up",
        /// 80 % of an offer's click cap is used.
        ClickCapNear = 5 "click_cap.near",
        /// An offer's click cap is used up.
        ClickCapSpent = 6 "click_cap.spent",
        /// The facts of a day have not been loaded in time.
        FactsLate = 7 "facts.late",
        /// A day that was final has changed.
        DayChanged = 8 "day.changed",
        /// An object was restored from an earlier copy.
        ObjectRestored = 9 "object.restored",
        /// An object has used 80 % of its storage.
        ObjectNearlyFull = 10 "object.nearly_full",
        /// A publisher waits for approval.
        PublisherWaiting = 11 "publisher.waiting",
        /// 80 % of an offer's conversion cap is used.
        ConversionCapNear = 12 "conversion_cap.near",
        /// An offer's conversion cap is used up.
        ConversionCapSpent = 13 "conversion_cap.spent",
    }
}

/// One cause of an alarm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alarm {
    /// The event. It selects the alarm's text.
    pub kind: AlarmKind,
    /// The app, offer, object, publisher or day that the alarm is about. All given-up rewards share one subject, and so
    /// do all changed days of a publisher.
    pub subject: String,
    /// The number of the cause, which increases with each cause of the same kind and subject. An alarm whose number is
    /// not above the last one is a repeat.
    pub cause: i64,
    /// The time when the problem began, in milliseconds.
    pub since_ms: i64,
    /// The number of causes that the alarm combines.
    pub count: i64,
    /// The publisher concerned, in an alarm for the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub publisher: Option<PublisherId>,
}

/// Sends alarms to a publisher. Repeats are recognized by their causes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RaiseAlarms {
    /// The alarms, in the order of their causes.
    pub alarms: Vec<Alarm>,
    /// True if the publisher was closed. Its alarm address is then removed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends: bool,
}

impl From<Vec<Alarm>> for RaiseAlarms {
    fn from(alarms: Vec<Alarm>) -> Self {
        Self { alarms, ends: false }
    }
}

/// Sets the URL that receives alarms and generates a new secret, or removes the URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetAlarmAddress {
    /// The publisher that receives the alarms; `None` for the operator.
    pub publisher: Option<PublisherId>,
    /// The URL that receives alarms; `None` removes it.
    pub url: Option<String>,
}

/// Reads the masked URL of alarms, and the result of the last attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadAlarmAddress {}

/// Sends a test alarm to the URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestAlarms {}
