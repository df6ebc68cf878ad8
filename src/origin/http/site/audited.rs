//! Changes to other objects that the account's audit records. The accounts object is told of a change in advance, so
//! that no change lacks its entry. After the change, the accounts object is told the result. An entry without a known
//! result stays unconfirmed.

use crate::http::limits::TIMEOUT;
use contract::{
    accounts::{self, Announce, PendingAudit, Settle},
    operation::{CallError, ObjectAddress, Operation, OperatorReply},
};
use domain::accounts::ids::AccountId;
use platform::{ObjectCall, log};

/// Announces and makes a change. `subject_of` finds the id of the changed thing in the answer, if the announcement
/// could not name it. A status of 200 means that nothing changed, as when the thing to create already existed.
///
/// # Errors
/// The announcement or the change is refused, or the answer to one of them is missing.
pub async fn change<O: Operation<Answer = OperatorReply>>(
    caller: &impl ObjectCall,
    account: AccountId,
    announce: Announce,
    to: &ObjectAddress,
    change: O,
    subject_of: impl FnOnce(&OperatorReply) -> Option<String>,
) -> Result<OperatorReply, CallError> {
    let ended = |reply: &OperatorReply| (reply.status != 200, subject_of(reply));
    let change = caller.call(to, change, TIMEOUT);
    carry_out(caller, account, announce, change, ended).await
}

/// Announces and carries out an action, such as a test. Every answer except an error counts as done.
///
/// # Errors
/// The errors of [`change`].
pub async fn act<O: Operation<Answer = OperatorReply>>(
    caller: &impl ObjectCall,
    account: AccountId,
    announce: Announce,
    to: &ObjectAddress,
    act: O,
) -> Result<OperatorReply, CallError> {
    let act = caller.call(to, act, TIMEOUT);
    act_all(caller, account, announce, act).await
}

/// Like [`act`], with calls to several objects.
///
/// # Errors
/// The errors of [`change`].
pub async fn act_all<T, E: Refused + From<CallError>>(
    caller: &impl ObjectCall,
    account: AccountId,
    announce: Announce,
    act: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    carry_out(caller, account, announce, act, |_| (true, None)).await
}

/// An error that says whether the operation may have been carried out.
pub trait Refused {
    /// True if the operation was refused, and nothing was done.
    fn is_refused(&self) -> bool;
}

impl Refused for CallError {
    fn is_refused(&self) -> bool {
        matches!(
            self,
            Self::Refused {
                status: 400..=499,
                ..
            }
        )
    }
}

/// `ended` reads from the answer whether anything was changed, and the subject of the change.
async fn carry_out<T, E: Refused + From<CallError>>(
    caller: &impl ObjectCall,
    account: AccountId,
    announce: Announce,
    operation: impl Future<Output = Result<T, E>>,
    ended: impl FnOnce(&T) -> (bool, Option<String>),
) -> Result<T, E> {
    let account = accounts::address(account);
    let PendingAudit { entry } = caller.call(&account, announce, TIMEOUT).await?;
    let outcome = operation.await;
    let settle = match &outcome {
        Ok(reply) => {
            let (is_done, subject) = ended(reply);
            Settle {
                entry,
                is_done,
                subject: subject.filter(|_| is_done),
                detail: None,
            }
        }
        Err(error) if error.is_refused() => Settle {
            entry,
            is_done: false,
            subject: None,
            detail: None,
        },
        // The change may have been made, so the entry stays unconfirmed.
        Err(_) => return outcome,
    };
    if let Err(error) = caller.call(&account, settle, TIMEOUT).await {
        log::error(
            "site",
            format_args!("audit entry {entry} was not completed: {error}"),
        );
    }
    outcome
}
