//! The dashboard's API, which its pages call (docs/DECISIONS.md, "Accounts and the dashboard"). The figures are the
//! ledger's own, by the code that serves report keys.

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
mod users;
mod visitor;

use crate::http::{
    alarms,
    handlers::{DashboardCall, MemberCall},
    refusal::HandlerResult,
    site::{self, Call, gate},
};
use domain::accounts::account::AccountKind;
use platform::http::answer::Answer;

/// Runs the handler of a routed request.
pub async fn call(call: DashboardCall, request: Call<'_>) -> Answer {
    let context = request.context;
    match call {
        DashboardCall::Site(call) => site::call(call, request).await,
        DashboardCall::Member(call) => match member(call, request).await {
            Ok(answer) => gate::add_guard_headers(answer),
            Err(refusal) => site::refusal_answer(context, AccountKind::Publisher, refusal),
        },
    }
}

async fn member(call: MemberCall, mut request: Call<'_>) -> HandlerResult {
    let config = request.config()?;
    let access = gate::Access {
        session_use: call.session_use(),
        permission: call.permission(),
        max_body: Some(exports::MAX_REQUEST),
    };
    let visitor = visitor::admit(&mut request, config, access).await?;
    let (context, segments, query) = (request.context, request.segments, request.address.query);
    let request = request.request;
    match call {
        MemberCall::Switch => switch::switch(context, config, &visitor, request).await,
        MemberCall::Overview => figures::overview(context, config, &visitor).await,
        MemberCall::Reports => figures::reports(context, &visitor, request).await,
        MemberCall::Suggestions => figures::suggestions(context, &visitor, request).await,
        MemberCall::ReadActivity => rewards::activity(context, &visitor).await,
        MemberCall::ListRewards => rewards::list(context, &visitor, request).await,
        MemberCall::ReadReward => rewards::story(context, &visitor, segments).await,
        MemberCall::ReplayReward => rewards::replay(context, &visitor, segments).await,
        MemberCall::ReplayRewards => replays::start(context, &visitor, segments, request).await,
        MemberCall::ReadReplay => replays::read(context, &visitor, segments).await,
        MemberCall::CancelReplay => replays::cancel(context, &visitor, segments).await,
        MemberCall::ListDayChanges => days::changes(context, &visitor, query).await,
        MemberCall::ReadAppDay => days::offers(context, &visitor, segments).await,
        MemberCall::ListPayments => days::payments(context, &visitor, segments, query).await,
        MemberCall::CreateExport => exports::create(context, &visitor, request).await,
        MemberCall::ReadExport => exports::read(context, &visitor, segments).await,
        MemberCall::ListReportKeys => settings::list_report_keys(context, &visitor).await,
        MemberCall::CreateReportKey => settings::create_report_key(context, &visitor, request).await,
        MemberCall::RevokeReportKey => settings::revoke_report_key(context, &visitor, segments).await,
        MemberCall::ReadPubKey => settings::read_pub_key(context, &visitor).await,
        MemberCall::ReadPubKeyRequest => settings::read_pub_key_request(context, &visitor).await,
        MemberCall::RequestPubKey => settings::request_pub_key(context, &visitor, request).await,
        MemberCall::ListApps => apps::list(context, &visitor, query).await,
        MemberCall::CreateApp => apps::create(context, &visitor, request).await,
        MemberCall::ReadApp => apps::read(context, &visitor, segments).await,
        MemberCall::ChangeApp => apps::change(context, &visitor, segments, request).await,
        MemberCall::ChangeSecret(change) => apps::change_secret(context, &visitor, segments, change).await,
        MemberCall::EnableCallback => tester::enable(context, &visitor, segments).await,
        MemberCall::TestCallback => tester::test(context, &visitor, segments, request).await,
        MemberCall::PreviewCallback => tester::preview(context, &visitor, segments, request).await,
        MemberCall::ListOffers => offers::list(context, &visitor, segments, request).await,
        MemberCall::User(call) => users::call(context, &visitor, call, request).await,
        MemberCall::Alarms(call) => {
            let announce = |change| visitor.announce(change);
            alarms::of_publisher(context, &visitor.publisher, call, request, announce).await
        }
        MemberCall::MakeTrackingUrl => offers::tracking_url(context, &visitor, segments, request).await,
    }
}
