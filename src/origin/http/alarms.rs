//! Calls about the URL that receives alarms. The operator has one, and each publisher sets its own in the dashboard.

use serde::Deserialize;
use worker::Request;

use crate::http::{
    HandlerResult, RequestContext,
    calls::{ask, read_document},
    handlers::AlarmCall,
    site::audited,
};
use contract::{
    accounts::{Announce, AnnouncedChange},
    activity,
    alarms::{ReadAlarmAddress, SetAlarmAddress, TestAlarms},
    attention,
    operation::{ObjectAddress, Operation, OperatorReply},
};
use domain::{
    accounts::account::Account,
    model::{Document, PublisherId},
};

const MAX_BODY: usize = 16 << 10;

#[derive(Deserialize)]
struct AddressBody {
    url: String,
}

impl Document for AddressBody {}

/// Carries out a call of the operator. It is audited like the operator's other calls.
pub async fn of_operator(context: &RequestContext, call: AlarmCall, mut request: Request) -> HandlerResult {
    let to = attention::address();
    let set = |url| SetAlarmAddress { publisher: None, url };
    Ok(match call {
        AlarmCall::Read => ask(context, &to, ReadAlarmAddress {}).await,
        AlarmCall::Set => {
            let AddressBody { url } = read_document(&mut request, MAX_BODY).await?;
            ask(context, &to, set(Some(url))).await
        }
        AlarmCall::End => ask(context, &to, set(None)).await,
        AlarmCall::Test => ask(context, &to, TestAlarms {}).await,
    })
}

/// Carries out a call of a publisher's member. `announce` turns a change into its announcement for the audit.
pub async fn of_publisher(
    context: &RequestContext,
    publisher: &PublisherId,
    call: AlarmCall,
    mut request: Request,
    announce: impl Fn(AnnouncedChange) -> Announce,
) -> HandlerResult {
    let to = activity::address(publisher);
    let set = |url| SetAlarmAddress {
        publisher: Some(publisher.clone()),
        url,
    };
    match call {
        AlarmCall::Read => Ok(ask(context, &to, ReadAlarmAddress {}).await),
        AlarmCall::Set => {
            let AddressBody { url } = read_document(&mut request, MAX_BODY).await?;
            let announce = announce(AnnouncedChange::SetAlarmAddress {});
            act(context, publisher, announce, &to, set(Some(url))).await
        }
        AlarmCall::End => {
            let announce = announce(AnnouncedChange::EndAlarmAddress {});
            act(context, publisher, announce, &to, set(None)).await
        }
        AlarmCall::Test => {
            let announce = announce(AnnouncedChange::TestAlarms {});
            act(context, publisher, announce, &to, TestAlarms {}).await
        }
    }
}

async fn act<O: Operation<Answer = OperatorReply>>(
    context: &RequestContext,
    publisher: &PublisherId,
    announce: Announce,
    to: &ObjectAddress,
    operation: O,
) -> HandlerResult {
    let account = Account::Publisher(publisher.clone()).id();
    let done = audited::act(&context.workers, account, announce, to, operation).await?;
    Ok(done.into())
}
