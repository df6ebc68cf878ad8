//! Merges the logs and the endpoint states of all outboxes of an app.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use contract::outbox::{EndpointState, List, ListPage, ListedEntry, Standing};
use platform::concurrent::try_each;

/// Maximum bytes of attempts' texts on a page, over all outboxes.
pub const MAX_TEXT: usize = 4 << 20;
/// Maximum rounds of questions for one page. With a selective filter the page may therefore be short or empty.
const ROUNDS: usize = 4;
/// Number of entries that each outbox is asked for in addition to its share, because the users' entries are not spread
/// evenly over the outboxes.
const SPARE: u32 = 16;

/// A page of the log as the operator reads it.
#[derive(Debug, Serialize)]
pub struct Page {
    pub conversions: Vec<Box<RawValue>>,
    /// The place at which the next page begins; `None` on the last page.
    #[serde(rename = "cursor", serialize_with = "as_text")]
    pub before: Option<i64>,
}

fn as_text<S: Serializer>(before: &Option<i64>, serializer: S) -> Result<S::Ok, S::Error> {
    before.map(|before| before.to_string()).serialize(serializer)
}

/// Merges the outboxes' logs, newest first. The page ends at the newest entry at which an outbox stopped, so that the
/// next page misses no entry. `ask` sends a question to the outbox with the given number.
///
/// # Errors
/// The first error of `ask`.
pub async fn list<E>(
    outboxes: &[u8],
    list: &List,
    ask: impl AsyncFn(u8, List) -> Result<ListPage, E>,
) -> Result<Page, E> {
    let limit = usize::try_from(list.limit).unwrap_or(usize::MAX);
    let question =
        List { limit: share(list.limit, outboxes.len()), max_text: MAX_TEXT / outboxes.len().max(1), ..list.clone() };
    let (mut merged, mut before) = (Vec::<ListedEntry>::new(), list.before);
    for _ in 0..ROUNDS {
        let asked = |outbox: &u8| {
            let part = List { before, ..question.clone() };
            ask(*outbox, part)
        };
        let pages = try_each(outboxes, asked).await?;
        let stopped = pages.iter().filter_map(|page| page.end).max();
        let from = stopped.unwrap_or(i64::MIN);
        let entries = pages.into_iter().flat_map(|page| page.entries);
        let mut entries: Vec<_> = entries.filter(|listed| listed.number >= from).collect();
        entries.sort_unstable_by_key(|listed| std::cmp::Reverse(listed.number));
        merged.extend(entries);
        before = stopped;
        if before.is_none() || merged.len() >= limit {
            break;
        }
    }
    if merged.len() > limit {
        merged.truncate(limit);
        before = merged.last().map(|last| last.number);
    }
    Ok(Page { conversions: merged.into_iter().map(|listed| listed.entry).collect(), before })
}

/// Returns the number of entries to ask each outbox for.
pub fn share(limit: u32, outboxes: usize) -> u32 {
    let count = u32::try_from(outboxes).unwrap_or(1).max(1);
    let share = limit.div_ceil(count).saturating_mul(2).saturating_add(SPARE);
    share.min(limit)
}

/// Combines the outboxes' states of an app's endpoint. `has_callback` is true if the app has a callback, which its
/// outboxes may not know yet.
pub fn standing(has_callback: bool, outboxes: impl IntoIterator<Item = Standing>) -> Standing {
    let none = Standing {
        state: if has_callback { EndpointState::Healthy } else { EndpointState::None },
        ..Standing::default()
    };
    outboxes.into_iter().fold(none, |all, one| Standing {
        state: if has_callback { all.state.max(one.state) } else { all.state },
        consecutive_failures: all.consecutive_failures.max(one.consecutive_failures),
        next_try_ts: [all.next_try_ts, one.next_try_ts].into_iter().flatten().min(),
        waiting: all.waiting.saturating_add(one.waiting),
        dead: all.dead.saturating_add(one.dead),
        reserving: all.reserving.saturating_add(one.reserving),
    })
}
