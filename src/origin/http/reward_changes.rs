//! The rewards of a publisher in the order of their newest changes, over all outboxes of its apps.
//!
//! The numbers of log entries follow the time, so one number is a reader's position in all outboxes (docs/DECISIONS.md,
//! "Conversions"). A round reads up to a number that is `SETTLED_MS` old. No outbox writes below that number any more.
//! Publishers with many outboxes are read in groups of apps, each group up to that number.

use serde_json::value::RawValue;

use super::site::merge;
use contract::outbox::{ChangedRewards, OutboxShard, ReadChanges};
use domain::{
    conversions::log_number::{self, first_number},
    model::{AppId, PublisherId, SECOND_MS},
};
use platform::concurrent::try_each;

/// The minimum age of a change, in milliseconds. It exceeds the difference between two machines' clocks.
const SETTLED_MS: i64 = 2 * SECOND_MS;
/// Maximum groups of apps, or parts of a group, in one answer. Each takes one call to the catalog and one to each
/// outbox, and an invocation may make at most 1,000 calls.
const PARTS: u32 = 3;

/// A reader's position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The number up to which all outboxes were read.
    after: i64,
    /// The unfinished round; `None` if the next answer begins a round.
    round: Option<Round>,
}

/// A round, which reads all outboxes up to a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Round {
    through: i64,
    /// The first app that was not read to the end.
    from: AppId,
    /// The unfinished group of apps: its last app, and the number up to which it was read.
    group: Option<(AppId, i64)>,
}

impl Cursor {
    /// Returns `None` for a text that is not a cursor.
    pub fn parse(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('.').collect();
        let group = |to, within| Some((AppId::parse(to)?, log_number::parse(within)?));
        let round = |through, from, group| {
            Some(Round { through: log_number::parse(through)?, from: AppId::parse(from)?, group })
        };
        let (after, round) = match *parts.as_slice() {
            [after] => (after, None),
            [after, through, from] => (after, Some(round(through, from, None)?)),
            [after, through, from, to, within] => (after, Some(round(through, from, Some(group(to, within)?))?)),
            _ => return None,
        };
        Some(Self { after: log_number::parse(after)?, round })
    }

    pub fn to_text(self) -> String {
        let Self { after, round } = self;
        match round {
            None => after.to_string(),
            Some(Round { through, from, group: None }) => format!("{after}.{through}.{from}"),
            Some(Round { through, from, group: Some((to, within)) }) => {
                format!("{after}.{through}.{from}.{to}.{within}")
            }
        }
    }
}

/// The answer to a reader.
#[derive(Debug)]
pub struct Page {
    pub rewards: Vec<Box<RawValue>>,
    pub cursor: Cursor,
    /// True if more rewards can be read immediately.
    pub has_more: bool,
}

/// A reader's question.
#[derive(Clone, Debug)]
pub struct Question {
    pub publisher: PublisherId,
    pub app: Option<AppId>,
    pub cursor: Cursor,
    pub limit: u32,
}

/// Reads the next rewards. `apps` takes the first and the last app of a range, both inclusive. It returns the
/// publisher's apps in the range, each with its number of outboxes, and whether more apps follow. `ask` sends a
/// question to an outbox.
///
/// # Errors
/// The first error of `apps` or `ask`.
pub async fn read<E>(
    question: &Question,
    now_ms: i64,
    apps: impl AsyncFn(Option<AppId>, Option<AppId>) -> Result<(Vec<(AppId, u8)>, bool), E>,
    ask: impl AsyncFn(OutboxShard, ReadChanges) -> Result<ChangedRewards, E>,
) -> Result<Page, E> {
    let mut page = Page { rewards: vec![], cursor: question.cursor, has_more: false };
    let settled = first_number(now_ms.saturating_sub(SETTLED_MS)).saturating_sub(1);
    for _ in 0..PARTS {
        let Cursor { after, round } = page.cursor;
        let through = round.map_or(settled, |round| round.through);
        let (from, group) = (round.map(|round| round.from), round.and_then(|round| round.group));
        let within = group.map_or(after, |(_, within)| within);
        if through <= after {
            page.has_more = false;
            break;
        }
        let (first, last) = match question.app {
            Some(app) => (Some(app), Some(app)),
            None => (from, group.map(|(to, _)| to)),
        };
        let (apps, follow) = apps(first, last).await?;
        let (Some((first, _)), Some((last, _))) = (apps.first().copied(), apps.last().copied()) else {
            page.cursor = Cursor { after: through, round: None };
            page.has_more = through < settled;
            break;
        };
        let outboxes = apps.iter().flat_map(|(app, count)| (0..*count).map(|number| OutboxShard { app: *app, number }));
        let outboxes: Vec<OutboxShard> = outboxes.collect();
        let changes = ReadChanges {
            publisher: question.publisher.clone(),
            after: within,
            through,
            limit: merge::share(question.limit, outboxes.len()),
        };
        let parts = try_each(outboxes, |outbox| ask(outbox, changes.clone())).await?;
        // The page ends at the lowest number at which an outbox stopped, so that the next page misses no change.
        let mut end = parts.iter().map(|part| part.through).min().unwrap_or(through).max(within);
        let mut changed: Vec<_> =
            parts.into_iter().flat_map(|part| part.rewards).filter(|changed| changed.number <= end).collect();
        changed.sort_unstable_by_key(|changed| changed.number);
        let limit = usize::try_from(question.limit).unwrap_or(usize::MAX);
        if let Some(cut) = changed.get(limit).map(|changed| changed.number) {
            // Apps may share a number, and the next page begins after the last number of this one. So the page has all
            // of a number or none, and is longer than the limit only if one number has more.
            let fitting = changed.partition_point(|changed| changed.number < cut);
            let whole = match fitting {
                0 => changed.partition_point(|changed| changed.number == cut),
                _ => fitting,
            };
            changed.truncate(whole);
            end = changed.last().map_or(end, |last| last.number);
        }
        page.rewards = changed.into_iter().map(|changed| changed.reward).collect();
        let next_app = AppId::from_number(last.number().saturating_add(1)).filter(|_| follow);
        let round = if end < through { Some((first, Some((last, end)))) } else { next_app.map(|from| (from, None)) };
        let round = round.map(|(from, group)| Round { through, from, group });
        page.cursor = Cursor { after: if round.is_some() { after } else { through }, round };
        // If an earlier question began the round, `through` is lower than `settled` and more changes may follow.
        page.has_more = page.cursor.round.is_some() || through < settled;
        if !page.rewards.is_empty() || !page.has_more || end == within && end < through {
            break;
        }
    }
    Ok(page)
}
