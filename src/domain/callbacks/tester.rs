//! The tester builds a callback that has the fields of a reward but pays nothing. Fixed ids and a header mark the
//! callback as a test. The tester also shows the bytes that were sent and the texts that were signed, with secrets
//! masked.

use serde::Serialize;

use super::{
    fields::{Decimal, Fields, Status},
    request::{Endpoint, Request},
    settings::{CallbackMethod, MASKED_SECRET},
    signature::{SignWith, legacy_content, webhook_content},
};
use crate::model::{AppId, CurrencyRate, MicroUsd, TEST_ID};

/// The user of every test. A test cannot name another user.
pub const USER_ID: &str = "signpost-test";
/// The value of a test in USD.
const PAYOUT: MicroUsd = MicroUsd(1_250_000);

/// The fields of a test at `now_s`. The transaction id begins with `test-`. No reward that pays has such an id.
pub fn fields(app: AppId, currency: &CurrencyRate, random: &[u8; 32], now_s: i64) -> Fields {
    let custom = |name: &str| Some(format!("test-{name}"));
    let device = || Some("00000000-0000-0000-0000-000000000000".to_owned());
    Fields {
        user_id: USER_ID.into(),
        value: Decimal::in_app(currency, currency.convert(PAYOUT)),
        payout: Decimal::usd(PAYOUT),
        currency: currency.name.clone(),
        transaction_id: format!("{TEST_ID}{}", hex::encode(random.first_chunk::<16>().unwrap_or(&[0; 16]))),
        offer_id: "test".into(),
        goal_id: "test".into(),
        goal_value: Some("test".into()),
        app_id: app.to_string(),
        gaid: device(),
        idfa: device(),
        c1: custom("c1"),
        c2: custom("c2"),
        c3: custom("c3"),
        c4: custom("c4"),
        c5: custom("c5"),
        country: Some("DE".into()),
        click_ts: now_s,
        conversion_ts: now_s,
        status: Status::Approved,
        original_transaction_id: None,
        pending_value: None,
        reason: None,
    }
}

/// The request of a test.
pub fn request(endpoint: &Endpoint, fields: &Fields, sign_with: SignWith, random: &[u8; 32], now_s: i64) -> Request {
    endpoint.signing_with(sign_with, random).request(fields, now_s)
}

/// A text over which a signature of a request was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SignedContent {
    /// The header, the parameter of the query or the member of the body that has the signature.
    pub signature: &'static str,
    /// `hmac-sha256` or `md5`.
    pub algorithm: &'static str,
    /// The signed text, with secrets masked.
    pub content: String,
}

/// A request for display: every secret is masked, and the signed texts are included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShownRequest {
    /// GET or POST.
    pub method: CallbackMethod,
    /// The full URL, with secrets masked.
    pub url: String,
    /// Header values by name.
    pub headers: serde_json::Map<String, serde_json::Value>,
    /// The JSON body; `None` on a GET.
    pub body: Option<String>,
    /// One text for each signature of the request.
    pub signed_content: Vec<SignedContent>,
}

impl ShownRequest {
    /// Masks the request that was sent at `now_s`, in UNIX seconds.
    pub fn new(endpoint: &Endpoint, request: &Request, fields: &Fields, now_s: i64) -> Self {
        let header = |(name, value): &(&str, String)| ((*name).to_owned(), endpoint.mask(value).into());
        Self {
            method: request.method,
            url: endpoint.mask(&request.url),
            headers: request.headers.iter().map(header).collect(),
            body: request.body.as_deref().map(|body| endpoint.mask(body)),
            signed_content: signed_content(endpoint, request, fields, now_s),
        }
    }
}

fn signed_content(endpoint: &Endpoint, request: &Request, fields: &Fields, now_s: i64) -> Vec<SignedContent> {
    let has_legacy = endpoint.has_legacy_md5();
    let query = match request.method {
        CallbackMethod::Get => request.url.split_once('?').map(|(_, query)| query),
        CallbackMethod::Post => None,
    };
    let payload = query.or(request.body.as_deref()).unwrap_or_default();
    let mut signed = vec![SignedContent {
        signature: "webhook-signature",
        algorithm: "hmac-sha256",
        content: endpoint.mask(&webhook_content(&fields.transaction_id, now_s, payload)),
    }];
    // The last parameter is the signature of the query before it.
    if let Some((before, _)) = query.and_then(|query| query.rsplit_once('&')) {
        signed.push(SignedContent {
            signature: if has_legacy { "signature_hmac" } else { "signature" },
            algorithm: "hmac-sha256",
            content: endpoint.mask(before),
        });
    }
    if has_legacy {
        let value = fields.value.as_str();
        let content = legacy_content(MASKED_SECRET, &fields.user_id, value, &fields.transaction_id);
        signed.push(SignedContent { signature: "signature", algorithm: "md5", content });
    }
    signed
}

#[cfg(test)]
mod tests;
