//! The member of a publisher who sends a call to the dashboard.

use std::ops::Deref;

use crate::http::{
    config::site::SiteConfig,
    refusal::Refusal,
    site::{
        Call,
        gate::{self, Access, Member},
    },
};
use domain::{
    accounts::{account::Account, session::NOT_SIGNED_IN},
    model::PublisherId,
};

/// A member, and the publisher of its account.
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

/// Finds the visitor who sends a call.
pub async fn admit(call: &mut Call<'_>, config: &SiteConfig, access: Access) -> Result<Visitor, Refusal> {
    let member = gate::enter(call, config, access, gate::JSON_ONLY).await?;
    match &member.account {
        Account::Publisher(publisher) => Ok(Visitor {
            publisher: publisher.clone(),
            member,
        }),
        Account::Operator => Err(NOT_SIGNED_IN.into()),
    }
}
