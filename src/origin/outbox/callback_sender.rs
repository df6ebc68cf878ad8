//! Sends callbacks to the app's current endpoint, and the operator's test callback.

use std::{cell::RefCell, rc::Rc, time::Duration};

use serde_json::json;
use url::Url;

use contract::{
    catalog::{CallbackSettings, callback_purpose},
    operation::Reply,
    outbox::Test,
};
use domain::{
    callbacks::{
        fields::{Decimal, Fields, Status},
        guard::Guard,
        request::{Endpoint, Request},
        schedule::{DEFAULT_TIMEOUT_MS, Schedule, timeout_ms},
        settings::Callback,
    },
    model::{
        AppId, MicroUsd,
        api_error::ApiError,
        credentials::{STORE_KEYS, Vault},
        time::SECOND_MS,
    },
};
use platform::{
    failure::Failure,
    http_call::{HttpCall, NoAnswer},
    traits::{Clock, Http, Random},
};

/// Added to the longest duration of an attempt before a claim expires, in milliseconds.
const SLACK_MS: i64 = 5 * SECOND_MS;

pub const NO_CALLBACK: ApiError = ApiError::new(409, "no_callback", "the app has no callback to test");

/// The configuration of callbacks, and the endpoint in use.
pub struct CallbackSender {
    pub schedule: Schedule,
    timeout_ms: u32,
    guard: Guard,
    /// The keys of `STORE_KEYS`, which encrypt callback settings.
    vault: Result<Vault, String>,
    /// The decrypted endpoint, with the revision of its settings.
    endpoint: RefCell<Option<(i64, Rc<Endpoint>)>>,
}

impl CallbackSender {
    /// Reads the settings. Faulty ones fall back to their defaults, because the Worker refuses to start with them.
    pub fn new(read: impl Fn(&str) -> Option<String>) -> Self {
        let schedule = read("CALLBACK_SCHEDULE").map(|text| Schedule::parse(&text));
        Self {
            schedule: schedule.and_then(Result::ok).unwrap_or_default(),
            timeout_ms: timeout_ms(read("CALLBACK_TIMEOUT_MS").as_deref()).unwrap_or(DEFAULT_TIMEOUT_MS),
            vault: Vault::parse(STORE_KEYS, &read(STORE_KEYS).unwrap_or_default()),
            guard: Guard::from_config(read),
            endpoint: RefCell::new(None),
        }
    }

    /// The duration of a claim, in milliseconds: longer than any attempt, so that none overlaps with a second one.
    pub fn claim_ms(&self) -> i64 {
        i64::from(self.timeout_ms).saturating_add(SLACK_MS)
    }

    /// The endpoint of an app's callback settings; none if the app has no callback.
    ///
    /// # Errors
    /// None of `STORE_KEYS` decrypts the settings, or they do not parse.
    pub fn endpoint(&self, app: AppId, callback: &CallbackSettings) -> Result<Option<Rc<Endpoint>>, Failure> {
        let Some(sealed) = &callback.sealed else {
            return Ok(None);
        };
        if let Some((known, endpoint)) = &*self.endpoint.borrow()
            && *known == callback.revision
        {
            return Ok(Some(Rc::clone(endpoint)));
        }
        let broken = |problem: &str| Failure::Internal(format!("the callback of app {app}: {problem}"));
        let vault = self.vault.as_ref().map_err(|error| broken(error))?;
        let plain = vault
            .open(&callback_purpose(&app.to_string()), &sealed.0)
            .ok_or_else(|| broken("none of STORE_KEYS decrypts it"))?;
        let settings: Callback = str::from_utf8(&plain)
            .ok()
            .and_then(|json| serde_json::from_str(json).ok())
            .ok_or_else(|| broken("it does not parse"))?;
        let endpoint = Endpoint::parse(&settings).map_err(|error| broken(&error.problem))?;
        let endpoint = Rc::new(endpoint);
        self.endpoint
            .replace(Some((callback.revision, Rc::clone(&endpoint))));
        Ok(Some(endpoint))
    }

    /// Makes one attempt. Secrets that the response repeats are masked.
    pub async fn send(
        &self,
        runtime: &(impl Clock + Http),
        endpoint: &Endpoint,
        fields: &Fields,
    ) -> HttpCall {
        let request = endpoint.request(fields, runtime.now_ms().div_euclid(SECOND_MS));
        let mut call = self.call(runtime, &request).await;
        if let Ok(answer) = &mut call.outcome {
            answer.body = endpoint.mask_for_log(&answer.body);
        }
        call
    }

    /// Sends the request, unless the guard refuses its URL.
    async fn call(&self, runtime: &(impl Clock + Http), request: &Request) -> HttpCall {
        let allowed = match Url::parse(&request.url) {
            Ok(url) => self.guard.check_parsed(&url).map_err(|problem| {
                NoAnswer::new("forbidden", format!("not called: the callback URL {problem}"))
            }),
            Err(error) => Err(NoAnswer::new("not_a_url", format!("the callback URL: {error}"))),
        };
        match allowed {
            Ok(()) => {
                runtime
                    .send(request, Duration::from_millis(self.timeout_ms.into()))
                    .await
            }
            Err(no_answer) => HttpCall {
                at_ms: runtime.now_ms(),
                took_ms: 0,
                outcome: Err(no_answer),
            },
        }
    }
}

/// `POST …/callback_test`: sends a callback with the fields of a reward, marked as a test by its ids. It pays nothing.
///
/// # Errors
/// `no_callback` without an endpoint; or there is no randomness.
pub async fn test(
    sender: &CallbackSender,
    runtime: &(impl Clock + Random + Http),
    app: AppId,
    Test { currency, callback }: &Test,
) -> Result<Reply, Failure> {
    let endpoint = sender.endpoint(app, callback)?.ok_or(NO_CALLBACK)?;
    let random = runtime.random().map_err(Failure::Internal)?;
    let now_s = runtime.now_ms().div_euclid(SECOND_MS);
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
        pending_value: None,
        reason: None,
    };
    let request = endpoint.request(&fields, now_s);
    let call = sender.call(runtime, &request).await;
    let headers: serde_json::Map<_, _> = request
        .headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.as_str().into()))
        .collect();
    let mut report = json!({
        "request": { "method": request.method, "url": request.url, "headers": headers, "body": request.body },
    });
    let (response, error) = match call.outcome {
        Ok(answer) => (
            json!({
                "http_status": answer.status,
                "ms": call.took_ms,
                "body": endpoint.mask_for_log(&answer.body),
            }),
            None,
        ),
        Err(no_answer) => (serde_json::Value::Null, Some(no_answer.message)),
    };
    if let Some(members) = report.as_object_mut() {
        members.insert("response".into(), response);
        members.extend(error.map(|error| ("error".to_owned(), error.into())));
    }
    Ok(Reply::ok(&report))
}
