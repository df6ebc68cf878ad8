//! The dashboard's API, which its pages call (docs/DECISIONS.md, "Accounts and the dashboard"). The ledger makes the
//! figures with the code that serves report keys.

mod apps;
mod days;
mod exports;
mod figures;
mod listing;
mod offers;
mod own_app;
mod replays;
mod rewards;
mod settings;
mod switch;
mod tester;
mod visitor;

use crate::http::{
    HandlerResult, alarms,
    handlers::{DashboardCall, MemberCall},
    site::{self, Call, gate},
    users::{self, UserBody},
};
use domain::accounts::account::AccountKind;
use platform::http::Answer;

/// Runs the handler of a routed request.
pub async fn call(call: DashboardCall, request: Call<'_>) -> Answer {
    let context = request.context;
    match call {
        DashboardCall::Site(call) => site::call(call, request).await,
        DashboardCall::Member(call, permission, session_use) => {
            let access = gate::Access { session_use, permission, max_body: Some(exports::MAX_REQUEST) };
            let answered = member(call, access, request).await;
            site::guarded(context, AccountKind::Publisher, answered)
        }
    }
}

async fn member(call: MemberCall, access: gate::Access, mut request: Call<'_>) -> HandlerResult {
    let visit = visitor::admit(&mut request, access).await?;
    let (context, segments, query) = (request.context, request.segments, request.address.query);
    let mut request = request.request;
    match call {
        MemberCall::Switch => switch::switch(&visit, request).await,
        MemberCall::Overview => figures::overview(&visit).await,
        MemberCall::Reports => figures::reports(&visit, request).await,
        MemberCall::Suggestions => figures::suggestions(&visit, request).await,
        MemberCall::ReadActivity => rewards::activity(&visit).await,
        MemberCall::ListRewards => rewards::list(&visit, request).await,
        MemberCall::ReadReward => rewards::story(&visit).await,
        MemberCall::ReplayReward => rewards::replay(&visit).await,
        MemberCall::ReplayRewards => replays::start(&visit, request).await,
        MemberCall::ReadReplay => replays::read(&visit).await,
        MemberCall::CancelReplay => replays::cancel(&visit).await,
        MemberCall::ListDayChanges => days::changes(context, &visit, query).await,
        MemberCall::ReadAppDay => days::offers(context, &visit, segments).await,
        MemberCall::ListPayments => days::payments(context, &visit, segments, query).await,
        MemberCall::CreateExport => exports::create(&visit, request).await,
        MemberCall::ReadExport => exports::read(&visit).await,
        MemberCall::ListReportKeys => settings::list_report_keys(&visit).await,
        MemberCall::CreateReportKey => settings::create_report_key(&visit, request).await,
        MemberCall::RevokeReportKey => settings::revoke_report_key(&visit).await,
        MemberCall::ReadPubKey => settings::read_pub_key(&visit).await,
        MemberCall::ReadPubKeyRequest => settings::read_pub_key_request(&visit).await,
        MemberCall::RequestPubKey => settings::request_pub_key(&visit, request).await,
        MemberCall::ListApps => apps::list(&visit).await,
        MemberCall::CreateApp => apps::create(&visit, request).await,
        MemberCall::ReadApp => apps::read(&visit).await,
        MemberCall::ChangeApp => apps::change(&visit, request).await,
        MemberCall::ChangeSecret(change) => apps::change_secret(&visit, change).await,
        MemberCall::EnableCallback => tester::enable(&visit).await,
        MemberCall::TestCallback => tester::test(&visit, request).await,
        MemberCall::PreviewCallback => tester::preview(&visit, request).await,
        MemberCall::ListOffers => offers::list(&visit, request).await,
        MemberCall::User(call) => {
            let body = UserBody::read(&mut request).await?;
            users::carry_out(context, &visit.publisher, visit.actor(), call, body).await
        }
        MemberCall::Alarms(call) => {
            let announce = |change| visit.announce(change);
            alarms::of_publisher(context, &visit.publisher, call, request, announce).await
        }
        MemberCall::MakeTrackingUrl => offers::tracking_url(&visit, request).await,
    }
}
