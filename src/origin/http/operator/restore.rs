//! Restores one object to an earlier time with Cloudflare's point-in-time recovery.
//! See docs/OPERATING.md, "Backup and restore".

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use worker::Request;

use super::{MAX_DOCUMENT, read_document, segment};
use crate::http::{HandlerResult, Refusal, RequestContext};
use contract::{
    attention::{self, Doubt, Restored},
    operation::{ObjectAddress, OperatorReply},
    outbox::{OutboxShard, SendAll},
    recovery::{self, Bookmark, FindBookmark, Schedule, Wake},
    register::{self, Announce, ReadRegister},
};
use domain::model::{ApiError, DAY_MS, Document, FieldError, common, time::parse_rfc_3339};
use platform::{Sleep, database::MAX_INTEGER, http::Answer, log};

/// Maximum attempts to have an outbox send everything, and the pause between two attempts.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(300);
/// Maximum attempts to restart an object. The first one that arrives only ends its process.
const WAKES: u32 = 4;
/// How far back Cloudflare can restore, in days.
const KEPT_DAYS: i64 = 30;

const NOT_RECOVERABLE: ApiError =
    ApiError::new(409, "not_recoverable", "the runtime cannot restore the object to this time");

#[derive(Deserialize)]
struct RestoreBody {
    to: Option<String>,
    bookmark: Option<String>,
    /// Restores an outbox even if it cannot send its latest writes to its journal first.
    #[serde(default)]
    force: bool,
}

impl Document for RestoreBody {
    fn check(&self) -> Result<(), FieldError> {
        match (&self.to, &self.bookmark) {
            (Some(_), None) | (None, Some(_)) => Ok(()),
            _ => Err(FieldError::new("to", "give exactly one of to and bookmark")),
        }
    }
}

/// `POST …/objects/{object}/restore`.
pub async fn restore(context: &RequestContext, segments: &[&str], mut request: Request) -> HandlerResult {
    let body: RestoreBody = read_document(&mut request, MAX_DOCUMENT).await?;
    let name = segment(segments, 0);
    let unknown = || common::NOT_FOUND.with_message("no object has this name");
    let (object, asks_register) = recovery::address(&name).ok_or_else(unknown)?;
    let bookmark = bookmark(context, &object, &body).await?;
    if let Some(outbox) = OutboxShard::of_object(&name).filter(|_| !body.force) {
        send_all(context, outbox).await?;
    }
    let announced = match asks_register {
        true => Some(announce(context, &name).await?),
        false => None,
    };
    let schedule = Schedule { bookmark: bookmark.clone() };
    let scheduled = context.call(&object, schedule).await;
    if let Ok(Bookmark::Problem(problem)) = &scheduled {
        let refusal = cannot(problem);
        if let Some((register, at_ms)) = announced {
            // Nothing is restored, so only the earlier announcement still applies.
            context.call(&register, Announce { at_ms }).await?;
        }
        return Err(refusal);
    }
    // Without an answer the restore may still be scheduled. The remaining steps are carried out even if other calls
    // fail.
    let undo = match scheduled {
        Ok(Bookmark::Bookmark(undo)) => undo,
        _ => String::new(),
    };
    let restored = Restored {
        source: name.clone(),
        publisher: None,
        at_ms: context.now_ms,
        doubts: vec![Doubt::new(format!("undo: {undo}"), "put_back")],
    };
    let tell = async || {
        let told = context.call(&attention::address(), restored.clone()).await;
        told.inspect_err(|error| {
            log::error(
                "operator",
                format_args!("the restore of {name} (undo bookmark {undo}) was not added to Attention: {error}"),
            )
        })
        .is_ok()
    };
    // The restart may end this call, so the operator is told first how to undo the restore. If `attention` itself is
    // restored, the operator is told afterwards, because the restore would remove the item.
    let is_told = name != attention::OBJECT_NAME && tell().await;
    let has_started = restart(context, &object).await;
    if !is_told {
        tell().await;
    }
    let answer = json!({ "object": name, "bookmark": bookmark, "undo_bookmark": undo, "has_started": has_started });
    Ok(Answer::from(OperatorReply::ok(&answer)).audited(body.to.unwrap_or(bookmark)))
}

/// Has an outbox send the writes that the restore would remove. Retries, so that the outbox can first finish its
/// running work.
async fn send_all(context: &RequestContext, outbox: OutboxShard) -> Result<(), Refusal> {
    let mut tries = 1;
    loop {
        match context.call(&outbox.address(), SendAll {}).await {
            Err(_) if tries < TRIES => tries += 1,
            sent => return Ok(sent.map(drop)?),
        }
        context.workers.sleep(PAUSE).await;
    }
}

/// Announces a restore to the register of an object. Returns the register and the time of the announcement before.
async fn announce(context: &RequestContext, name: &str) -> Result<(ObjectAddress, i64), Refusal> {
    let register = register::address(name);
    let part = context.call(&register, ReadRegister { after: MAX_INTEGER }).await?;
    let at_ms = context.now_ms;
    context.call(&register, Announce { at_ms }).await?;
    Ok((register, part.announced_ms))
}

/// Ends the object's process and starts it again. Returns false if no new process has answered.
async fn restart(context: &RequestContext, object: &ObjectAddress) -> bool {
    for _ in 0..WAKES {
        // The process that scheduled the restore ends at this call, so the call fails.
        if context.call(object, Wake {}).await.is_ok() {
            return true;
        }
    }
    false
}

/// Returns the bookmark to restore. The caller reads it first, so that no other object prepares in vain if the runtime
/// has no recovery.
async fn bookmark(context: &RequestContext, object: &ObjectAddress, body: &RestoreBody) -> Result<String, Refusal> {
    let first_ms = context.now_ms.saturating_sub(KEPT_DAYS.saturating_mul(DAY_MS));
    let at_ms = match &body.to {
        Some(to) => parse_rfc_3339(to).filter(|at_ms| (first_ms..=context.now_ms).contains(at_ms)),
        None => Some(context.now_ms),
    };
    let at_ms = at_ms
        .ok_or_else(|| FieldError::new("to", "must be a time of the last 30 days, such as 2026-11-27T10:00:00Z"))?;
    let found = known(context.call(object, FindBookmark { at_ms }).await?)?;
    Ok(body.bookmark.clone().unwrap_or(found))
}

fn known(bookmark: Bookmark) -> Result<String, Refusal> {
    match bookmark {
        Bookmark::Bookmark(bookmark) => Ok(bookmark),
        Bookmark::Problem(problem) => Err(cannot(&problem)),
    }
}

fn cannot(problem: &str) -> Refusal {
    NOT_RECOVERABLE.with_message(format!("the runtime cannot restore the object: {problem}")).into()
}
