//! Changes of another object that stand in the account's audit. The account is told before the change, so that none is
//! made without its entry, and afterwards how it ended. An entry whose end is not known stays marked.

use crate::limits::TIMEOUT;
use contract::{
    accounts::{self, Announce, Announced, Settle},
    operation::{CallError, ObjectAddress, Operation, Reply},
};
use domain::accounts::ids::AccountId;
use platform::{log, traits::ObjectCall};

/// Makes a change that was announced. `subject_of` finds what was changed in the answer, where the announcement could not
/// name it.
///
/// # Errors
/// The announcement or the change is refused, or the answer to one of them is missing.
pub async fn change<O: Operation<Answer = Reply>>(
    caller: &impl ObjectCall,
    account: AccountId,
    announce: Announce,
    to: &ObjectAddress,
    change: O,
    subject_of: impl FnOnce(&Reply) -> Option<String>,
) -> Result<Reply, CallError> {
    let account = accounts::address(account);
    let Announced { entry } = caller.call(&account, announce, TIMEOUT).await?;
    let outcome = caller.call(to, change, TIMEOUT).await;
    let settle = match &outcome {
        // The answer 200 to what would have been created shows what there was before.
        Ok(reply) if reply.status == 200 => Settle {
            entry,
            is_done: false,
            subject: None,
        },
        Ok(reply) => Settle {
            entry,
            is_done: true,
            subject: subject_of(reply),
        },
        Err(CallError::Refused {
            status: 400..=499, ..
        }) => Settle {
            entry,
            is_done: false,
            subject: None,
        },
        // It may have been made.
        Err(_) => return outcome,
    };
    if let Err(error) = caller.call(&account, settle, TIMEOUT).await {
        log::error("dashboard", format_args!("audit entry {entry}: {error}"));
    }
    outcome
}
