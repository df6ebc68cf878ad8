//! Writes the text of messages: what happened, since when, the consequence, and the page where it can be repaired.

use serde_json::{Value, json};

use contract::alarms::AlarmKind;
use domain::model::time::rfc_3339;
use platform::{DbResult, Row};

/// The base URLs of the pages to which messages link.
#[derive(Clone, Debug, Default)]
pub struct Sites {
    pub dashboard: Option<String>,
    pub console: Option<String>,
}

impl Sites {
    /// Reads `DASHBOARD_URL` and `CONSOLE_URL`.
    pub fn of_settings(read: impl Fn(&str) -> Option<String>) -> Self {
        let url = |name| read(name).map(|url| url.trim_end_matches('/').to_owned());
        Self { dashboard: url("DASHBOARD_URL"), console: url("CONSOLE_URL") }
    }
}

/// The causes of one kind and subject in a message.
pub struct Entry {
    pub kind: AlarmKind,
    pub subject: String,
    publisher: Option<String>,
    count: i64,
    first: i64,
    since_ms: i64,
    last_ms: i64,
}

impl Entry {
    pub fn read(row: &Row) -> DbResult<Self> {
        Ok(Self {
            kind: row.decode(0, AlarmKind::from_number)?,
            subject: row.text(1)?.to_owned(),
            publisher: row.optional_text(2)?.map(str::to_owned),
            count: row.integer(3)?,
            first: row.integer(4)?,
            since_ms: row.integer(5)?,
            last_ms: row.integer(6)?,
        })
    }

    /// Returns a text that identifies the entry's causes, even among entries from before a restore of the object.
    pub fn causes(&self) -> String {
        format!("{} {} {} {} {}", self.kind.as_str(), self.subject, self.first, self.count, self.last_ms)
    }

    fn to_json(&self, of_publisher: bool, sites: &Sites) -> Value {
        let Words { summary, cost, page } = words(self, of_publisher);
        let site = if of_publisher { &sites.dashboard } else { &sites.console };
        let root = if of_publisher { "/dashboard" } else { "/console" };
        json!({
            "type": self.kind.as_str(),
            "subject": self.subject,
            "publisher_id": self.publisher,
            "count": self.count,
            "since": rfc_3339(self.since_ms),
            "last": rfc_3339(self.last_ms),
            "summary": summary,
            "cost": cost,
            "page": site.as_ref().map(|site| format!("{site}{root}{page}")),
        })
    }
}

/// Returns the body of a message with one alarm, or of a digest. The three members are those that Standard Webhooks
/// recommends.
pub fn body(entries: &[Entry], of_publisher: Option<&str>, now_ms: i64, sites: &Sites) -> String {
    let mut alarms: Vec<_> = entries.iter().map(|entry| entry.to_json(of_publisher.is_some(), sites)).collect();
    let (kind, data) = match (entries, alarms.as_mut_slice()) {
        ([entry], [alarm]) => (entry.kind.as_str(), alarm.take()),
        _ => ("digest", json!({ "alarms": alarms })),
    };
    json!({ "type": kind, "timestamp": rfc_3339(now_ms), "data": data }).to_string()
}

/// Returns the body of a test message.
pub fn test_body(now_ms: i64) -> String {
    let data = json!({ "summary": "This is a test. Alarms will come to this address." });
    json!({ "type": "test", "timestamp": rfc_3339(now_ms), "data": data }).to_string()
}

struct Words {
    summary: String,
    cost: &'static str,
    /// The path of the page, below the root of the dashboard or of the console.
    page: String,
}

fn words(entry: &Entry, of_publisher: bool) -> Words {
    let Entry { subject, count, .. } = entry;
    let of =
        |for_publisher: &str, for_operator: &str| (if of_publisher { for_publisher } else { for_operator }).to_owned();
    let counted = |one: &str, many: &str| {
        if *count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
    };
    let publisher = entry.publisher.as_deref().unwrap_or_default();
    let (summary, cost, page) = match entry.kind {
        AlarmKind::EndpointFailing => (
            format!("The receiver of app {subject} does not answer callbacks with 2xx."),
            "Rewards wait. Signpost tries each again for days and then gives up.",
            format!("/apps/{subject}"),
        ),
        AlarmKind::EndpointDisabled => (
            format!("The receiver of app {subject} told Signpost to stop."),
            "No reward is sent until callbacks are switched on again.",
            format!("/apps/{subject}"),
        ),
        AlarmKind::EndpointRecovered => (
            format!("The receiver of app {subject} works again, or was switched on again."),
            "No action is needed: rewards that waited are being sent.",
            format!("/apps/{subject}"),
        ),
        AlarmKind::RewardGivenUp => (
            format!("{} given up after the last try.", counted("reward was", "rewards were")),
            "Their users are not paid until the callbacks are sent again.",
            of("/rewards?delivery=dead", "?kind=dead"),
        ),
        AlarmKind::ClickCapNear => (
            format!("Offer {subject} has used 80 % of today's click cap."),
            "At 100 % the offer leaves the lists until midnight UTC.",
            format!("/offers/{subject}"),
        ),
        AlarmKind::ClickCapSpent => (
            format!("Offer {subject} has used all of today's click cap."),
            "The offer is not listed until midnight UTC. Earlier clicks can still convert.",
            format!("/offers/{subject}"),
        ),
        AlarmKind::ConversionCapNear => (
            format!("Offer {subject} has used 80 % of today's conversion cap."),
            "At 100 % the offer leaves the lists, and conversions are refused until midnight UTC.",
            format!("/offers/{subject}"),
        ),
        AlarmKind::ConversionCapSpent => (
            format!("Offer {subject} has used all of today's conversion cap."),
            "The offer is not listed, and conversions are refused until midnight UTC.",
            format!("/offers/{subject}"),
        ),
        AlarmKind::FactsLate => (
            format!("The ad figures of {subject} are late."),
            "Nothing was loaded after the end of this day, so reports may lack ad revenue, and the day is not final.",
            of("", &format!("/publishers/{publisher}?section=facts")),
        ),
        AlarmKind::DayChanged => (
            format!(
                "{} since their days became final.",
                counted("app's figures have changed", "figures of apps have changed")
            ),
            "Earlier copies of these reports are out of date.",
            of("/changes", &format!("/publishers/{publisher}?section=facts")),
        ),
        AlarmKind::ObjectRestored => (
            format!("{subject} was restored to an earlier copy."),
            "The attention list shows what is in doubt.",
            "?kind=restored".to_owned(),
        ),
        AlarmKind::ObjectNearlyFull => (
            format!("{subject} has used 80 % of its 10 GB."),
            "A full object accepts no more writes.",
            "?kind=near_limit".to_owned(),
        ),
        AlarmKind::PublisherWaiting => (
            format!("Publisher {subject} waits for approval."),
            "Its apps get no offers until then.",
            format!("/publishers/{subject}"),
        ),
    };
    Words { summary, cost, page }
}
