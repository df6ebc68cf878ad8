//! Reports postbacks to their advertisers' objects, after the postbacks were answered (docs/DECISIONS.md,
//! "Conversions"). No conversion waits for this or fails because of it. A postback is reported only if its click id
//! opens or Signpost issued its token, which may have been revoked. Any other postback belongs to no advertiser.

use std::{rc::Rc, time::Duration};

use futures_util::future::join;
use serde::Deserialize;
use worker::Delay;

use crate::{
    click_records::record,
    isolate::{Isolate, RequestContext},
};
use contract::{
    catalog::{self, GetOfferTerms},
    postbacks::{ReceivedPostback, address, refused_address},
};
use domain::{
    conversions::{
        received::{candidates, shown_parameters},
        state::Status,
        token::Token,
        verdict::taken_code,
    },
    model::{AdvertiserId, AppId, OfferId},
    tracking::{Click, Nonce, Opened, click_id},
};
use platform::{ObjectCall, http::Answer, log, log_panics, panics::catch_panic, runtime::now_ms, workers::Workers};

/// The time for which postbacks gather before they are reported. An object takes one batch per second, so it still
/// accepts batches that are half a second early or late.
const GATHER: Duration = Duration::from_millis(1_500);
/// The timeout of a batch, and of each look-up before it.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum attempts of one request. The runtime ends a request's background work 30 seconds after the answer.
const MAX_ATTEMPTS: usize = 2;

/// A postback as it was sent.
#[derive(Clone, Copy)]
pub struct RawPostback<'r> {
    pub is_post: bool,
    pub query: &'r str,
    pub form: Option<&'r str>,
}

/// The proofs of a postback that were found before it was answered.
#[derive(Default)]
pub struct Proof {
    /// The postback's token, if Signpost issued it.
    pub token: Option<Token>,
    pub click: Option<ProvenClick>,
}

/// The click of an authentic click id.
pub struct ProvenClick {
    app: AppId,
    shard: u8,
    nonce: Nonce,
    /// The offer, the goal and the revision of the offer's terms. `None` for a short click id until its record was
    /// read.
    offer: Option<(String, String, i64)>,
}

impl ProvenClick {
    pub fn of(opened: &Opened) -> Self {
        match opened {
            Opened::Whole { click, nonce } => {
                Self { app: click.app, shard: click.shard, nonce: *nonce, offer: Some(offer_of(click)) }
            }
            Opened::Short { app, shard, nonce } => Self { app: *app, shard: *shard, nonce: *nonce, offer: None },
        }
    }

    /// Adds the offer from the record of a short click id.
    pub fn complete(&mut self, click: &Click<'_>) {
        self.offer.get_or_insert_with(|| offer_of(click));
    }

    /// Returns the offer and the revision of its terms, which determine the advertiser.
    fn terms(&self) -> Option<(OfferId, i64)> {
        let (offer, _, revision) = self.offer.as_ref()?;
        Some((OfferId::parse(offer)?, *revision))
    }
}

fn offer_of(click: &Click<'_>) -> (String, String, i64) {
    (click.offer.to_string(), click.goal.to_string(), click.offer_terms)
}

/// Records an answered postback, if it belongs to an advertiser.
pub fn note(context: &RequestContext, sent: RawPostback<'_>, proof: Proof, answer: &Answer) {
    if let Err(panic) = catch_panic(|| try_note(context, sent, proof, answer)) {
        log::error("postbacks", panic);
    }
}

fn try_note(context: &RequestContext, sent: RawPostback<'_>, mut proof: Proof, answer: &Answer) {
    let isolate = &context.isolate;
    if proof.token.is_none() {
        prove(isolate, sent, &mut proof);
    }
    let terms = proof.click.as_ref().and_then(ProvenClick::terms);
    let known = terms.as_ref().and_then(|terms| isolate.postbacks.borrow().advertiser(terms));
    let is_unsigned = proof.token.is_none();
    let row = |click: Option<&ProvenClick>| received(context.now_ms, sent, click, is_unsigned, answer);
    if let Some(token) = &proof.token {
        let mut queue = isolate.postbacks.borrow_mut();
        queue.use_token(&token.advertiser, token.serial.0, context.now_ms);
    }
    let by_token = proof.token.map(|token| token.advertiser);
    // Only the advertiser that owns the click's offer receives a 200.
    if answer.status == 200
        && known.is_none()
        && let (Some(advertiser), Some(terms)) = (&by_token, &terms)
    {
        isolate.postbacks.borrow_mut().learn(terms, advertiser);
    }
    if let Some(advertiser) = by_token.or(known) {
        let row = || row(proof.click.as_ref());
        if isolate.postbacks.borrow_mut().add(&advertiser, context.now_ms, is_unsigned, row) {
            let (workers, isolate) = (context.workers.clone(), Rc::clone(isolate));
            context.go_on(log_panics("postbacks", async move {
                send(&workers, &isolate, &advertiser).await;
            }));
        }
    } else if let Some(click) = proof.click {
        if !isolate.postbacks.borrow_mut().may_look_up(context.now_ms) {
            if let Some(terms) = &terms {
                isolate.postbacks.borrow_mut().count_unknown(terms);
            }
            return;
        }
        let row = row(Some(&click));
        let (workers, isolate) = (context.workers.clone(), Rc::clone(isolate));
        context.go_on(log_panics("postbacks", async move {
            let found = find_advertiser(&workers, &isolate, click, row).await;
            let Some((advertiser, row)) = found else {
                if let Some(terms) = &terms {
                    isolate.postbacks.borrow_mut().count_unknown(terms);
                }
                return;
            };
            if isolate.postbacks.borrow_mut().add(&advertiser, now_ms(), is_unsigned, || row) {
                send(&workers, &isolate, &advertiser).await;
            }
        }));
    }
}

/// Searches a refused postback for a valid token and click id.
fn prove(isolate: &Isolate, sent: RawPostback<'_>, proof: &mut Proof) {
    let found = candidates(sent.query, sent.form);
    let mut tokens = found.tokens.iter();
    let token = tokens.find_map(|token| Token::verify(&isolate.config.token_keys, token));
    proof.token = token;
    if proof.click.is_none() {
        let mut ids = found.click_ids.iter();
        let opened = ids.find_map(|id| click_id::open(&isolate.config.click_keys, id).ok());
        proof.click = opened.as_ref().map(ProvenClick::of);
    }
}

fn received(
    at_ms: i64,
    sent: RawPostback<'_>,
    click: Option<&ProvenClick>,
    is_unsigned: bool,
    answer: &Answer,
) -> ReceivedPostback {
    let fields = &answer.log_fields;
    let taken = fields.outcome.and_then(Status::parse);
    let taken = taken.map(|status| taken_code(status, fields.duplicate.unwrap_or(false)));
    let offer = click.and_then(|click| click.offer.as_ref());
    ReceivedPostback {
        at_ms,
        method: if sent.is_post { "POST" } else { "GET" }.into(),
        parameters: shown_parameters(sent.query, sent.form),
        http_status: answer.status,
        code: taken.or(answer.code.as_deref()).unwrap_or_default().to_owned(),
        transaction_id: fields.transaction_id.clone(),
        advertiser: None,
        app: click.map(|click| click.app),
        offer: offer.map(|(offer, ..)| offer.clone()),
        goal: offer.map(|(_, goal, _)| goal.clone()),
        is_unsigned,
    }
}

/// The part of [`contract::catalog::KnownOffer`] that the edge reads.
#[derive(Deserialize)]
struct KnownOfferPart {
    terms: Owner,
}

#[derive(Deserialize)]
struct Owner {
    advertiser_id: AdvertiserId,
}

/// Finds the advertiser that owns the clicked offer. The postback is dropped if the catalog does not answer.
async fn find_advertiser(
    workers: &Workers,
    isolate: &Isolate,
    mut click: ProvenClick,
    mut row: ReceivedPostback,
) -> Option<(AdvertiserId, ReceivedPostback)> {
    if click.offer.is_none() {
        let stored = record(workers, click.nonce).await.ok()?;
        let keys = &isolate.config.click_keys;
        let opened = click_id::open_record(keys, &stored, click.app, click.shard, click.nonce).ok()?;
        click.complete(&opened);
        row.offer = Some(opened.offer.into_owned());
        row.goal = Some(opened.goal.into_owned());
    }
    let terms = click.terms()?;
    if let Some(known) = isolate.postbacks.borrow().advertiser(&terms) {
        return Some((known, row));
    }
    let question = GetOfferTerms { offer_id: terms.0.clone(), revision: terms.1, outbox: None };
    let catalog = catalog::address(catalog::COMMAND_PATH);
    let reply = workers.call(&catalog, question, TIMEOUT).await;
    let reply = reply
        .inspect_err(|error| {
            log::warn("postbacks", format_args!("a postback's offer could not be read from the catalog: {error}"))
        })
        .ok()?;
    let KnownOfferPart { terms: owner } = serde_json::from_str(&reply.body).ok()?;
    let advertiser = owner.advertiser_id;
    isolate.postbacks.borrow_mut().learn(&terms, &advertiser);
    Some((advertiser, row))
}

/// Sends an advertiser's batch after postbacks have gathered. After a failure this request also sends the count of the
/// lost postbacks, since there may be no later postback to report the count with.
async fn send(workers: &Workers, isolate: &Isolate, advertiser: &AdvertiserId) {
    for _ in 0..MAX_ATTEMPTS {
        Delay::from(GATHER).await;
        let batch = isolate.postbacks.borrow_mut().take(advertiser);
        let Some(batch) = batch else { return };
        let (came, tokens) = (batch.came(), batch.tokens.clone());
        let (object, refused) = (address(advertiser), batch.refused(advertiser));
        let list = async {
            if let Some(refused) = refused
                && let Err(error) = workers.call(&refused_address(), refused, TIMEOUT).await
            {
                log::warn("postbacks", format_args!("the list of all advertisers lacks refused postbacks: {error}"));
            }
        };
        let (sent, ()) = join(workers.call(&object, batch, TIMEOUT), list).await;
        let Err(error) = sent else { return };
        log::warn(
            "postbacks",
            format_args!("postback counts did not reach {}, and are sent again: {error}", object.name),
        );
        isolate.postbacks.borrow_mut().put_back(advertiser, came, &tokens);
    }
}
