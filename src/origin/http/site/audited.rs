//! Changes to other objects that the account's audit records. The accounts object is told of a change in advance, so
//! that no change lacks its entry. After the change, the accounts object is told the result. An entry without a known
//! result stays unconfirmed.

use crate::http::limits::TIMEOUT;
use contract::{
    accounts::{self, Announce, PendingAudit, Settle},
    operation::{CallError, ObjectAddress, Operation, OperatorReply},
};
use domain::accounts::{
    account::{Account, AccountKind},
    ids::AccountId,
};
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
    let change = caller.call(to, change, TIMEOUT);
    carry_out(caller, account, announce, change, |reply, undone| {
        Some(match reply.status {
            200 => undone,
            _ => Settle { is_done: true, subject: subject_of(reply), ..undone },
        })
    })
    .await
}

/// Announces and carries out an action, such as a test. Every answer except an error counts as done.
///
/// # Errors
/// The errors of [`change`].
pub async fn act<T, E: Refused + From<CallError>>(
    caller: &impl ObjectCall,
    account: AccountId,
    announce: Announce,
    act: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    carry_out(caller, account, announce, act, |_, undone| Some(Settle { is_done: true, ..undone })).await
}

/// An error that says whether the operation may have been carried out.
pub trait Refused {
    /// True if the operation was refused, and nothing was done.
    fn is_refused(&self) -> bool;
}

impl Refused for CallError {
    fn is_refused(&self) -> bool {
        matches!(self, Self::Refused { status: 400..=499, .. })
    }
}

/// Announces and carries out an operation. `settle` gets the answer and the settlement of an operation that changed
/// nothing, and returns the settlement to send. It returns `None` to leave the entry unconfirmed, as an error does that
/// is no refusal: the change may have been made.
///
/// # Errors
/// The errors of [`change`].
pub async fn carry_out<T, E: Refused + From<CallError>>(
    caller: &impl ObjectCall,
    account: AccountId,
    announce: Announce,
    operation: impl Future<Output = Result<T, E>>,
    settle: impl FnOnce(&T, Settle) -> Option<Settle>,
) -> Result<T, E> {
    let to = accounts::address(account);
    let PendingAudit { entry } = caller.call(&to, announce, TIMEOUT).await?;
    let outcome = operation.await;
    let undone = Settle { entry, is_done: false, subject: None, detail: None };
    let settle = match &outcome {
        Ok(answer) => settle(answer, undone),
        Err(error) => error.is_refused().then_some(undone),
    };
    if let Some(settle) = settle
        && let Err(error) = caller.call(&to, settle, TIMEOUT).await
    {
        let place = match Account::kind_of(account) {
            AccountKind::Operator => "console",
            AccountKind::Publisher => "site",
        };
        log::error(place, format_args!("audit entry {entry} was not completed: {error}"));
    }
    outcome
}
