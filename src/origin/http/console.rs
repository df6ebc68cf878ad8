//! The operator's console. Its pages make the operator's calls with a session instead of the token, and each change has
//! an entry in the account's audit (docs/DECISIONS.md, "The console").

use crate::http::{
    HandlerResult, Refusal, RequestContext,
    handlers::{Access, OperatorCall},
    limits::Pool,
    operator,
    site::{Call, audited, gate},
};
use contract::accounts::{AnnouncedChange, Settle};
use domain::{
    accounts::{account::AccountKind, session::SessionUse},
    model::common,
};
use platform::{
    concurrency_limit::ConcurrencyLimit,
    http::{Answer, answer::JSON, header},
};
use worker::Request;

/// The media types that the pages send: documents, imports and facts. An HTML form can send none of them.
const MEDIA_TYPES: &[&str] = &[JSON, "application/x-ndjson", "text/csv"];

/// True if an operator's call comes from a page of the console and not from a program.
pub fn is_visited(context: &RequestContext, request: &Request) -> bool {
    let config = context.isolate.config.site(AccountKind::Operator);
    config.is_some_and(|config| gate::sessions_of(context, config, request).current().is_some())
        && header(request, "Authorization").is_none()
}

/// Runs a call of the operator for a member.
pub async fn operate(
    call: OperatorCall,
    access: Option<Access>,
    pool: Option<Pool>,
    mut request: Call<'_>,
) -> HandlerResult {
    let Access { permission, action } = access.ok_or(common::NOT_FOUND)?;
    let is_poll = action.is_none() && header(&request.request, "X-Poll").is_some();
    let access = gate::Access {
        session_use: if is_poll { SessionUse::Poll } else { SessionUse::Action },
        permission: Some(permission),
        max_body: (pool != Some(Pool::Uploads)).then_some(operator::MAX_DOCUMENT),
    };
    let visit = gate::enter(&mut request, access, MEDIA_TYPES).await?;
    let gate::Visit { context, segments, query, member, .. } = visit;
    // A member gets at most a quarter of the pool, because programs with the token share it.
    let by = member.session.member.to_string();
    let pool = pool.map(|pool| context.isolate.pools.get(pool));
    let share = |pool: &ConcurrencyLimit| (by.as_str(), pool.limit().permits / 4);
    let _permit = pool.map(|pool| pool.acquire_part("console", share(pool), context.now_ms)).transpose()?;
    let request = request.request;
    let Some(action) = action else {
        return operator::call(context, call, Some(&member), segments, request, query).await;
    };
    let announce = member.announce(AnnouncedChange::Operate { action: action.to_owned(), subject: segments.join(" ") });
    let operation = async {
        let answer = operator::call(context, call, Some(&member), segments, request, query).await;
        Ok(answer.unwrap_or_else(Refusal::into_answer))
    };
    // A change that failed with 5xx may have been made, so its entry stays unconfirmed. A dry run changes nothing.
    let settle = |answer: &Answer, undone| {
        (answer.status < 500 || answer.is_dry_run).then(|| Settle {
            is_done: answer.status < 400 && !answer.is_dry_run,
            detail: answer.audit_detail.clone(),
            ..undone
        })
    };
    let account = member.account.id();
    audited::carry_out(&context.workers, account, announce, operation, settle).await
}
