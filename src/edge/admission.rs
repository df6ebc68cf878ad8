//! What an isolate takes on at a time, by kind. Whatever waits, for an object, for KV or for its own body, has a place in a
//! room; beyond its bound it is refused at once with 503 and `Retry-After`.
//!
//! What is decided from memory, a click or a page of offers, has no bound: it waits for nothing, and to refuse it costs
//! as much as to serve it. So clicks go on while the rest is refused. Each bound is what an isolate's memory has room for
//! beside its snapshots (48 MiB of 128 MB), and well above what it can have under way when nothing is wrong: an isolate
//! has one thread, which serves some thousand conversions a second, each of a tenth of a second when objects are far.

use super::routes::Handler;
use crate::{
    room::{Bound, Room},
    time::{MINUTE_MS, SECOND_MS},
};

/// Longer than what any but the operator's calls wait for: 30 s for an outbox, and what a timer may slip.
const LASTS_MS: i64 = MINUTE_MS;
/// The same for calls that go on step by step: a refresh of all offers, a replay, a look at a page of outboxes.
const STEPS_LAST_MS: i64 = 5 * MINUTE_MS;

/// Postbacks that wait for an app's outbox, and before it for the record of a short click id: 10 KB each, with the click,
/// the command and what the runtime holds of a request, are 2.5 MB. An app has half: its outbox commits some 500 a second,
/// so more of one app would only wait there, and another app's outbox has nothing to do with that.
pub const CONVERSIONS: Bound = Bound {
    places: 256,
    share: 128,
    lasts_ms: LASTS_MS,
};

/// Queries of reports that are being read, of keys that were issued, be they revoked: up to 256 KiB each are 16 MiB. A publisher
/// has half, since it may have 100 keys that all take their time.
pub const QUERIES: Bound = Bound {
    places: 64,
    share: 32,
    lasts_ms: LASTS_MS,
};
/// What one key may take of its publisher's. It may ask every two seconds, so this is for one that asks too often to hear so,
/// and not for many that take their time.
pub const QUERIES_OF_KEY: usize = 16;

/// Reports that wait for a ledger: up to 256 KiB of query each are 8 MiB. A publisher has half, of the 100 keys that it may
/// have with a request every two seconds each: its ledger makes one report after the other, of some 10 ms for each 1 M
/// facts.
pub const REPORTS: Bound = Bound {
    places: 32,
    share: 16,
    lasts_ms: LASTS_MS,
};

/// Clicks that wait for a counter of their offer's cap, or for the record of a short click id to be kept: 8 KB each are
/// 4 MB. An offer has a quarter: its counter takes some 500 a second.
pub const CLICKS: Bound = Bound {
    places: 512,
    share: 128,
    lasts_ms: LASTS_MS,
};

/// Pages of offers that wait for bodies from KV: six chunks of some 64 KiB at a time for each are 24 MB. An app has half: its
/// backend may well ask on as many connections of a proxy, when a new listing has just come and nothing is in memory.
pub const PAGES: Bound = Bound {
    places: 64,
    share: 32,
    lasts_ms: LASTS_MS,
};

/// The operator's calls, in a room of their own, so that it gets in to see and repair whatever strangers do: pages of lists
/// and small commands, some 10 KB each.
pub const OPERATOR: Bound = Bound {
    places: 128,
    share: 128,
    lasts_ms: STEPS_LAST_MS,
};

/// Documents that are put have some KB and up to 1 MiB, which is there twice as it is handed on: 64 MiB if an operator sends
/// nothing but the largest.
pub const DOCUMENTS: Bound = Bound {
    places: 32,
    share: 32,
    lasts_ms: STEPS_LAST_MS,
};

/// Facts and imports, which are handed on chunk by chunk and take as long as their sender does, up to 15 minutes: so they
/// have a room of their own. A ledger shares 12 MiB among those that it stages.
pub const UPLOADS: Bound = Bound {
    places: 32,
    share: 32,
    lasts_ms: 16 * MINUTE_MS,
};

/// Offers requests whose body is being read, of apps whose credentials were right: up to 64 KiB each are 8 MiB. A quarter
/// for an app, so that one that takes its time holds up nobody else.
pub const BODIES: Bound = Bound {
    places: 128,
    share: 32,
    lasts_ms: LASTS_MS,
};

/// Forms of postbacks, whose senders are strangers until their body is there: 16 KiB each are 8 MiB. They are many and are
/// waited for briefly, so that it takes a flood to hold up those who post.
pub const FORMS: Bound = Bound {
    places: 512,
    share: 512,
    lasts_ms: LASTS_MS,
};

/// Requests of a cold isolate that wait for its first snapshot: 8 KB each are 4 MB.
pub const STARTS: Bound = Bound {
    places: 512,
    share: 512,
    lasts_ms: 30 * SECOND_MS,
};

/// The rooms of an isolate.
#[derive(Debug)]
pub struct Rooms {
    pub conversions: Room,
    pub queries: Room,
    pub reports: Room,
    pub clicks: Room,
    pub pages: Room,
    pub operator: Room,
    pub documents: Room,
    pub uploads: Room,
    pub bodies: Room,
    pub forms: Room,
    pub starts: Room,
}

impl Default for Rooms {
    fn default() -> Self {
        Self {
            conversions: Room::new(CONVERSIONS),
            queries: Room::new(QUERIES),
            reports: Room::new(REPORTS),
            clicks: Room::new(CLICKS),
            pages: Room::new(PAGES),
            operator: Room::new(OPERATOR),
            documents: Room::new(DOCUMENTS),
            uploads: Room::new(UPLOADS),
            bodies: Room::new(BODIES),
            forms: Room::new(FORMS),
            starts: Room::new(STARTS),
        }
    }
}

impl Rooms {
    /// Where an operator's call is under way. What tells how full the rooms are needs none.
    pub fn of_operator(&self, handler: Handler) -> Option<&Room> {
        Some(match handler {
            Handler::Metrics => return None,
            Handler::AddFacts | Handler::ReplaceFacts | Handler::Import => &self.uploads,
            Handler::Write(_) | Handler::CreateReportKey | Handler::ReplayConversions => &self.documents,
            _ => &self.operator,
        })
    }

    /// Each by its name in the metrics.
    pub fn each(&self) -> [(&'static str, &Room); 11] {
        [
            ("conversion", &self.conversions),
            ("query", &self.queries),
            ("report", &self.reports),
            ("click", &self.clicks),
            ("page", &self.pages),
            ("operator", &self.operator),
            ("document", &self.documents),
            ("upload", &self.uploads),
            ("body", &self.bodies),
            ("form", &self.forms),
            ("start", &self.starts),
        ]
    }
}
