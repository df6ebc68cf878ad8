//! A publisher's member who calls the dashboard.

use std::ops::Deref;

use crate::http::{
    Refusal,
    site::{
        Call,
        audited::{self, Refused},
        gate::{self, Access, Member},
    },
};
use contract::{
    accounts::AnnouncedChange,
    operation::{CallError, ObjectAddress, Operation, OperatorReply},
};
use domain::{
    accounts::{account::Account, session::NOT_SIGNED_IN},
    model::PublisherId,
};

/// A member and the account's publisher.
pub struct Visitor {
    pub publisher: PublisherId,
    member: Member,
}

impl Deref for Visitor {
    type Target = Member;

    fn deref(&self) -> &Member {
        &self.member
    }
}

/// A call of a visitor.
pub type Visit<'c> = gate::Visit<'c, Visitor>;

impl Visit<'_> {
    /// Makes a [change](audited::change) to another object.
    pub async fn change<O: Operation<Answer = OperatorReply>>(
        &self,
        announced: AnnouncedChange,
        to: ObjectAddress,
        change: O,
    ) -> Result<OperatorReply, CallError> {
        self.create(announced, to, change, |_| None).await
    }

    /// Like [`change`](Self::change), but `subject_of` finds the id of the created thing in the answer.
    pub async fn create<O: Operation<Answer = OperatorReply>>(
        &self,
        announced: AnnouncedChange,
        to: ObjectAddress,
        create: O,
        subject_of: impl FnOnce(&OperatorReply) -> Option<String>,
    ) -> Result<OperatorReply, CallError> {
        let (account, announce) = (self.account.id(), self.announce(announced));
        audited::change(&self.context.workers, account, announce, &to, create, subject_of).await
    }

    /// Carries out an [action](audited::act).
    pub async fn act<T, E: Refused + From<CallError>>(
        &self,
        announced: AnnouncedChange,
        act: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let (account, announce) = (self.account.id(), self.announce(announced));
        audited::act(&self.context.workers, account, announce, act).await
    }
}

/// Checks a call, and finds the visitor who sends it.
pub async fn admit<'c>(call: &mut Call<'c>, access: Access) -> Result<Visit<'c>, Refusal> {
    let visit = gate::enter(call, access, gate::JSON_ONLY).await?;
    let Account::Publisher(publisher) = &visit.account else {
        return Err(NOT_SIGNED_IN.into());
    };
    Ok(gate::Visit {
        context: visit.context,
        config: visit.config,
        segments: visit.segments,
        query: visit.query,
        member: Visitor { publisher: publisher.clone(), member: visit.member },
    })
}
