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
    let account = Account::Publisher(publisher.clone()).id();
    let set = async |announced, url| {
        let publisher = Some(publisher.clone());
        let set = context.call(&to, SetAlarmAddress { publisher, url });
        audited::act(&context.workers, account, announce(announced), set).await
    };
    let done = match call {
        AlarmCall::Read => return Ok(ask(context, &to, ReadAlarmAddress {}).await),
        AlarmCall::Set => {
            let AddressBody { url } = read_document(&mut request, MAX_BODY).await?;
            set(AnnouncedChange::SetAlarmAddress {}, Some(url)).await?
        }
        AlarmCall::End => set(AnnouncedChange::EndAlarmAddress {}, None).await?,
        AlarmCall::Test => {
            let test = context.call(&to, TestAlarms {});
            audited::act(&context.workers, account, announce(AnnouncedChange::TestAlarms {}), test).await?
        }
    };
    Ok(done.into())
}
