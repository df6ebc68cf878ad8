//! The operator's way to an app's outbox: the log of conversions, and its callbacks.

use percent_encoding::percent_decode_str;
use url::form_urlencoded;
use worker::Request;

use super::{
    answer::{Answer, JSON},
    body,
    isolate::Visit,
    operator::{self, MAX_DOCUMENT},
    routes::Handler,
};
use crate::{
    catalog::AppId,
    origin::outbox::{Command, client, operating::replay_in_steps},
    refusal::{Refusal, common},
};

pub async fn operate(
    visit: &Visit,
    handler: Handler,
    segments: &[&str],
    mut request: Request,
    query: &str,
) -> Result<Answer, Refusal> {
    let segment = |at| operator::segment(segments, at);
    let app = AppId::parse(&segment(0)).ok_or_else(|| common::NOT_FOUND.because("there is no such app"))?;
    let command = match handler {
        Handler::ListConversions => {
            let (limit, cursor) = operator::read_page(query)?;
            let filter = |name: &str| {
                form_urlencoded::parse(query.as_bytes())
                    .find(|(found, _)| found == name)
                    .map(|(_, value)| value.into_owned())
            };
            Command::List {
                status: filter("status"),
                state: filter("state"),
                limit,
                cursor,
            }
        }
        Handler::ReadConversion => Command::Get {
            transaction_id: segment(1),
        },
        Handler::ReplayConversion => Command::Replay {
            transaction_id: segment(1),
        },
        Handler::ReplayConversions => {
            body::check_media_type(&request, &[JSON], false)?;
            let body = body::read_text(&mut request, MAX_DOCUMENT).await?;
            let ask = async |command: Command| client::operate(&visit.env, app, &command).await;
            return Ok(operator::told(replay_in_steps(&body, ask).await));
        }
        Handler::ReadCallback => Command::Status {},
        Handler::EnableCallback => Command::Enable {},
        Handler::TestCallback => Command::Test {},
        // The alphabet of user ids has an @, which a client may encode.
        Handler::EraseUser => Command::Erase {
            user_id: percent_decode_str(&segment(1)).decode_utf8_lossy().into_owned(),
        },
        _ => return Err(common::NOT_FOUND),
    };
    Ok(operator::told(client::operate(&visit.env, app, &command).await))
}
