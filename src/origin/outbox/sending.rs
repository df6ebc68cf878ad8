//! How callbacks are sent: by the configuration, to the app's endpoint as it is now; and the operator's test of it.

use std::{cell::RefCell, rc::Rc, time::Duration};

use serde_json::json;
use worker::Env;

use super::{
    about::About,
    calling::{self, Called},
};
use crate::{
    callbacks::{
        fields::{Decimal, Fields, Status},
        guard::Guard,
        request::Endpoint,
        schedule::{DEFAULT_TIMEOUT_MS, Schedule, timeout_ms},
    },
    catalog::{AppId, CurrencyRate, MicroUsd, app::Callback, credentials::Vault},
    origin::{
        catalog::resources::callback_purpose,
        command::{Failure, Reply},
    },
    refusal::Refusal,
    runtime::{self, now_ms},
    time::SECOND_MS,
};

/// How long another object is waited for.
pub const PEER_TIMEOUT: Duration = Duration::from_secs(5);
/// Added to the longest that a try may take, before another one is made of the same callback.
const SLACK_MS: i64 = 5 * SECOND_MS;

pub const NO_CALLBACK: Refusal = Refusal::new(409, "no_callback", "the app has no callback to test");

/// How callbacks are sent, by the configuration.
pub struct Sending {
    pub schedule: Schedule,
    timeout_ms: u32,
    guard: Guard,
    /// The keys that callbacks are sealed under.
    vault: Result<Vault, &'static str>,
    /// The endpoint in use, with the revision of the catalog that it is from.
    endpoint: RefCell<Option<(i64, Rc<Endpoint>)>>,
}

impl Sending {
    /// A fault in the configuration, which the edge refuses to start with, falls back to what is usual.
    pub fn new(env: &Env) -> Self {
        let read = |name: &str| runtime::binding(env, name).filter(|text| !text.is_empty());
        let schedule = read("CALLBACK_SCHEDULE").map(|text| Schedule::parse(&text));
        Self {
            schedule: schedule.and_then(Result::ok).unwrap_or_default(),
            timeout_ms: timeout_ms(read("CALLBACK_TIMEOUT_MS").as_deref()).unwrap_or(DEFAULT_TIMEOUT_MS),
            guard: Guard::from_config(read),
            vault: Vault::parse(&read("STORE_KEYS").unwrap_or_default()),
            endpoint: RefCell::new(None),
        }
    }

    pub fn under_way_ms(&self) -> i64 {
        i64::from(self.timeout_ms).saturating_add(SLACK_MS)
    }

    /// Where callbacks go now; none if the app has no callback.
    ///
    /// # Errors
    /// What was sealed under a key that is no longer configured.
    pub fn endpoint(&self, about: Option<&About>) -> Result<Option<Rc<Endpoint>>, Failure> {
        let Some((about, sealed)) = about.and_then(|about| Some((about, about.callback.sealed.as_ref()?)))
        else {
            return Ok(None);
        };
        let revision = about.callback.revision;
        if let Some((known, endpoint)) = &*self.endpoint.borrow()
            && *known == revision
        {
            return Ok(Some(Rc::clone(endpoint)));
        }
        let broken = |problem: &str| Failure::Broken(format!("the callback of app {}: {problem}", about.app));
        let vault = self.vault.as_ref().map_err(|error| broken(error))?;
        let plain = vault
            .open(&callback_purpose(&about.app.to_string()), &sealed.0)
            .ok_or_else(|| broken("none of STORE_KEYS opens it"))?;
        let callback: Callback = serde_json::from_slice(&plain).map_err(|_| broken("it does not read"))?;
        let endpoint = Endpoint::parse(&callback).map_err(|error| broken(&error.problem))?;
        let endpoint = Rc::new(endpoint);
        self.endpoint.replace(Some((revision, Rc::clone(&endpoint))));
        Ok(Some(endpoint))
    }

    /// Makes one try. What the answer repeats of the secrets is left out.
    pub async fn send(&self, endpoint: &Endpoint, fields: &Fields) -> Called {
        let request = endpoint.request(fields, now_ms().div_euclid(SECOND_MS));
        let mut called = self.call(&request).await;
        if let Ok(answered) = &mut called.answered {
            answered.body = endpoint.for_the_log(&answered.body);
        }
        called
    }

    async fn call(&self, request: &crate::callbacks::request::Request) -> Called {
        let timeout = Duration::from_millis(self.timeout_ms.into());
        calling::call(&self.guard, request, timeout).await
    }
}

/// `POST …/callback_test`: a callback of nothing, marked as a test by its ids, with every field that one may carry.
pub async fn test(
    sending: &Sending,
    endpoint: Option<Rc<Endpoint>>,
    app: AppId,
    currency: &CurrencyRate,
) -> Result<Reply, Failure> {
    let endpoint = endpoint.ok_or(NO_CALLBACK)?;
    let random = runtime::random().map_err(Failure::Broken)?;
    let now_s = now_ms().div_euclid(SECOND_MS);
    let payout = MicroUsd(1_250_000);
    let custom = |name: &str| Some(format!("test-{name}"));
    let device = || Some("00000000-0000-0000-0000-000000000000".to_owned());
    let fields = Fields {
        user_id: "signpost-test".into(),
        value: Decimal::in_app(currency, currency.convert(payout)),
        payout: Decimal::usd(payout),
        currency: currency.name.clone(),
        transaction_id: format!(
            "test-{}",
            hex::encode(random.first_chunk::<16>().unwrap_or(&[0; 16]))
        ),
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
    };
    let request = endpoint.request(&fields, now_s);
    let called = sending.call(&request).await;
    let headers: serde_json::Map<_, _> = request
        .headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.as_str().into()))
        .collect();
    let mut told = json!({
        "request": { "method": request.method, "url": request.url, "headers": headers, "body": request.body },
    });
    let (response, error) = match called.answered {
        Ok(answered) => (
            json!({
                "http_status": answered.status,
                "ms": called.took_ms,
                "body": endpoint.for_the_log(&answered.body),
            }),
            None,
        ),
        Err(no_answer) => (serde_json::Value::Null, Some(no_answer.message)),
    };
    if let Some(members) = told.as_object_mut() {
        members.insert("response".into(), response);
        members.extend(error.map(|error| ("error".to_owned(), error.into())));
    }
    Ok(Reply::ok(&told))
}
