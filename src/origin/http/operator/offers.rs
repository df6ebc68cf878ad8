//! The console's calls about offers: their terms, figures and caps, and a preview of a draft.

use serde::Deserialize;
use worker::Request;

use super::{MAX_DOCUMENT, ask, internal, read_document, read_json, segment};
use crate::http::{HandlerResult, RequestContext, routes::OfferCall};
use contract::{
    catalog::{COMMAND_PATH, CheckOffer, ListNearCaps, ListTerms, ReadOfferFigures, UNKNOWN_RESOURCE, address},
    operation::OperatorReply,
};
use domain::{
    catalog::Offer,
    model::{Document, OfferId},
    offers::preview::preview,
};

#[derive(Deserialize)]
struct FiguresBody {
    offer_ids: Vec<OfferId>,
}

// The catalog checks the number of ids.
impl Document for FiguresBody {}

pub async fn call(context: &RequestContext, call: OfferCall, segments: &[&str], mut request: Request) -> HandlerResult {
    let catalog = address(COMMAND_PATH);
    let offer_id = || OfferId::parse(&segment(segments, 0)).ok_or(UNKNOWN_RESOURCE);
    Ok(match call {
        OfferCall::ListTerms => {
            let offer_id = offer_id()?;
            ask(context, &catalog, ListTerms { offer_id }).await
        }
        OfferCall::ListNearCaps => ask(context, &catalog, ListNearCaps {}).await,
        OfferCall::ReadFigures => {
            let FiguresBody { offer_ids } = read_document(&mut request, MAX_DOCUMENT).await?;
            ask(context, &catalog, ReadOfferFigures { offer_ids }).await
        }
        OfferCall::Preview => {
            let body = read_json(&mut request, MAX_DOCUMENT).await?;
            let offer_id = offer_id()?;
            show_preview(context, &offer_id, body).await?
        }
    })
}

/// `POST offers/{offer_id}/preview`. A document that a PUT would refuse gets the same refusal.
async fn show_preview(context: &RequestContext, offer_id: &OfferId, body: String) -> HandlerResult {
    let offer = Offer::from_json(&body)?;
    let check = CheckOffer { offer_id: offer_id.clone(), body };
    context.call(&address(COMMAND_PATH), check).await?;
    let tracking_url = context.workers.setting("TRACKING_URL").unwrap_or_default();
    let shown = preview(offer_id, &offer, &tracking_url, context.now_ms)
        .ok_or_else(|| internal("operator", format_args!("offer {offer_id} has no preview")))?;
    Ok(OperatorReply::ok(&shown).into())
}
