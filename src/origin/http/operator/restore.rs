//! Puts one object back to an earlier time, by Cloudflare's point-in-time recovery (docs/OPERATING.md, "Put an object back").

use serde::Deserialize;
use serde_json::json;
use worker::Request;

use super::{MAX_DOCUMENT, read_document, segment};
use crate::http::{
    isolate::RequestContext,
    refusal::{HandlerResult, Refusal},
};
use contract::{
    attention::{self, Doubt, Restored},
    operation::{ObjectAddress, OperatorReply},
    outbox::{OutboxShard, SendAll},
    recovery::{self, Bookmark, FindBookmark, Restart, Schedule, Wake},
    register::{self, Announce},
};
use domain::model::{
    api_error::{ApiError, common},
    document::{Document, FieldError},
    time::{DAY_MS, parse_rfc_3339},
};
use platform::{http::answer::Answer, log};

/// How far Cloudflare can go back, in days.
const KEPT_DAYS: i64 = 30;

const NOT_RECOVERABLE: ApiError = ApiError::new(
    409,
    "not_recoverable",
    "the runtime cannot put the object back to this time",
);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RestoreBody {
    to: Option<String>,
    bookmark: Option<String>,
    /// Also if an outbox cannot send its journal what it would lose.
    #[serde(default)]
    force: bool,
}

impl Document for RestoreBody {
    fn check(&self) -> Result<(), FieldError> {
        match (&self.to, &self.bookmark) {
            (Some(_), None) | (None, Some(_)) => Ok(()),
            _ => Err(FieldError::new("to", "must be there, or bookmark, and not both")),
        }
    }
}

/// `POST …/objects/{object}/restore`.
pub async fn restore(context: &RequestContext, segments: &[&str], mut request: Request) -> HandlerResult {
    let name = segment(segments, 0);
    let unknown = || common::NOT_FOUND.with_message("no object has such a name");
    let (object, asks_register) = recovery::address(&name).ok_or_else(unknown)?;
    let body: RestoreBody = read_document(&mut request, MAX_DOCUMENT).await?;
    let bookmark = bookmark(context, &object, &body).await?;
    if let Some(outbox) = OutboxShard::of_object(&name).filter(|_| !body.force) {
        context.call(&outbox.address(), SendAll {}).await?;
    }
    if asks_register {
        let at_ms = context.now_ms;
        context
            .call(&register::address(&name), Announce { at_ms })
            .await?;
    }
    let schedule = Schedule {
        bookmark: bookmark.clone(),
    };
    let undo = known(context.call(&object, schedule).await?)?;
    let restored = Restored {
        source: name.clone(),
        publisher: None,
        at_ms: context.now_ms,
        doubts: vec![Doubt::new(undo.clone(), "put_back")],
    };
    // Before the restart, so that somebody can undo it whatever fails; attention itself would lose it.
    let tell = async || context.call(&attention::address(), restored.clone()).await;
    if name != attention::OBJECT_NAME {
        tell().await?;
    }
    // It ends the object, and this call with it.
    drop(context.call(&object, Restart {}).await);
    if let Err(error) = context.call(&object, Wake {}).await {
        log::warn("operator", format_args!("{name} has not started: {error}"));
    }
    if name == attention::OBJECT_NAME {
        tell().await?;
    }
    let answer = json!({ "object": name, "bookmark": bookmark, "undo_bookmark": undo });
    Ok(Answer::from(OperatorReply::ok(&answer)).audited(body.to.unwrap_or(bookmark)))
}

async fn bookmark(
    context: &RequestContext,
    object: &ObjectAddress,
    body: &RestoreBody,
) -> Result<String, Refusal> {
    let Some(to) = &body.to else {
        return Ok(body.bookmark.clone().unwrap_or_default());
    };
    let at_ms = parse_rfc_3339(to).filter(|at_ms| {
        let first_ms = context.now_ms.saturating_sub(KEPT_DAYS.saturating_mul(DAY_MS));
        (first_ms..=context.now_ms).contains(at_ms)
    });
    let at_ms = at_ms.ok_or_else(|| {
        FieldError::new(
            "to",
            "must be a time of the last 30 days, such as 2026-11-27T10:00:00Z",
        )
    })?;
    known(context.call(object, FindBookmark { at_ms }).await?)
}

fn known(bookmark: Bookmark) -> Result<String, Refusal> {
    match bookmark {
        Bookmark::Bookmark(bookmark) => Ok(bookmark),
        Bookmark::Problem(problem) => Err(NOT_RECOVERABLE
            .with_message(format!("the runtime cannot put it back: {problem}"))
            .into()),
    }
}
