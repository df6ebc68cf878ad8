//! Sends callbacks to the app's current endpoint, and alarms to their URL.

use std::{cell::RefCell, rc::Rc, time::Duration};

use url::Url;

use contract::catalog::{CallbackSettings, callback_purpose};
use domain::{
    callbacks::{
        delivery::{Judgement, judge},
        fields::Fields,
        guard::Guard,
        request::{Endpoint, Request},
        schedule::{DEFAULT_TIMEOUT_MS, Schedule, timeout_ms},
        settings::Callback,
    },
    model::{AppId, SECOND_MS, Vault, credentials::STORE_KEYS},
};
use platform::{
    Failure, Result,
    http_call::{HttpCall, NoAnswer},
    traits::{Clock, Http, Random},
};

/// Margin in milliseconds that is added to the timeout of an attempt, so that no attempt outlasts its claim. A claim
/// has the margin twice, because an attempt may begin this long after the commit that claimed it.
const SLACK_MS: i64 = 5 * SECOND_MS;
/// Maximum duration of a test.
const MAX_TEST: Duration = Duration::from_secs(20);

/// The configuration of callbacks, and the endpoint in use.
pub struct CallbackSender {
    pub schedule: Schedule,
    timeout_ms: u32,
    /// Checks URLs, also before they are saved.
    pub guard: Guard,
    /// The keys of `STORE_KEYS`, which encrypt callback settings.
    vault: Result<Vault, String>,
    /// The decrypted endpoint, with the revision of its settings.
    endpoint: RefCell<Option<(i64, Rc<Endpoint>)>>,
}

impl CallbackSender {
    /// Reads the settings. A faulty setting falls back to its default. Objects need not report it, because the Worker
    /// refuses to start with faulty settings.
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

    /// The duration of a claim, in milliseconds: longer than any attempt, so that no two attempts overlap.
    pub fn claim_ms(&self) -> i64 {
        self.attempt_ms().saturating_add(SLACK_MS)
    }

    /// The time that must remain of a claim when an attempt begins, in milliseconds.
    pub fn attempt_ms(&self) -> i64 {
        i64::from(self.timeout_ms).saturating_add(SLACK_MS)
    }

    /// Returns the endpoint in an app's callback settings; `None` if the app has no callback.
    ///
    /// # Errors
    /// No key of `STORE_KEYS` decrypts the settings, or the decrypted settings are invalid.
    pub fn endpoint(&self, app: AppId, callback: &CallbackSettings) -> Result<Option<Rc<Endpoint>>> {
        let Some(sealed) = &callback.sealed else {
            return Ok(None);
        };
        if let Some((known, endpoint)) = &*self.endpoint.borrow()
            && *known == callback.revision
        {
            return Ok(Some(Rc::clone(endpoint)));
        }
        let endpoint = Rc::new(self.open(&callback_purpose(&app.to_string()), &sealed.0)?);
        self.endpoint.replace(Some((callback.revision, Rc::clone(&endpoint))));
        Ok(Some(endpoint))
    }

    /// Encrypts settings that an object stores itself, for a purpose.
    ///
    /// # Errors
    /// `STORE_KEYS` has no key, or the runtime provides no randomness.
    pub fn seal(&self, purpose: &str, plain: &[u8], runtime: &impl Random) -> Result<Vec<u8>> {
        let vault = self.vault.as_ref().map_err(|error| Failure::Internal(error.clone()))?;
        let random = runtime.random().map_err(Failure::Internal)?;
        let nonce = random.first_chunk().copied().unwrap_or_default();
        let sealed = vault.seal(purpose, plain, nonce);
        sealed.ok_or_else(|| Failure::Internal(format!("{STORE_KEYS} has no key")))
    }

    /// Encrypts settings again if an old key encrypted them. Returns `None` if the first key encrypted the settings, or
    /// if no key decrypts them.
    pub fn reseal(&self, purpose: &str, sealed: &[u8], runtime: &impl Random) -> Result<Option<Vec<u8>>> {
        let Ok(vault) = &self.vault else {
            return Ok(None);
        };
        if sealed.first() == Some(&vault.sealing_id()) {
            return Ok(None);
        }
        let plain = vault.open(purpose, sealed);
        plain.map(|plain| self.seal(purpose, &plain, runtime)).transpose()
    }

    /// Decrypts settings that were encrypted for a purpose, and returns their endpoint.
    ///
    /// # Errors
    /// No key of `STORE_KEYS` decrypts the settings, or the decrypted settings are invalid.
    pub fn open(&self, purpose: &str, sealed: &[u8]) -> Result<Endpoint> {
        let broken = |problem: &str| Failure::Internal(format!("{purpose}: {problem}"));
        let vault = self.vault.as_ref().map_err(|error| broken(error))?;
        let plain =
            vault.open(purpose, sealed).ok_or_else(|| broken("no key in STORE_KEYS decrypts the callback settings"))?;
        let settings: Callback =
            serde_json::from_slice(&plain).map_err(|_| broken("the decrypted callback settings are not valid"))?;
        Endpoint::parse(&settings).map_err(|error| broken(&error.problem))
    }

    /// Makes one attempt. Secrets that the response repeats are masked.
    pub async fn send(&self, runtime: &(impl Clock + Http), endpoint: &Endpoint, fields: &Fields) -> HttpCall {
        let request = endpoint.request(fields, runtime.now_ms().div_euclid(SECOND_MS));
        let mut call = self.call(runtime, &request, self.timeout()).await;
        if let Ok(answer) = &mut call.outcome {
            answer.body = endpoint.mask_for_log(&answer.body);
        }
        call
    }

    /// Decides what follows an attempt that has just ended. `attempts_made` includes this attempt.
    pub fn judge(&self, runtime: &(impl Clock + Random), attempts_made: u32, call: &HttpCall) -> Result<Judgement> {
        let [a, b, c, d, ..] = runtime.random().map_err(Failure::Internal)?;
        Ok(judge(
            &self.schedule,
            attempts_made,
            &call.delivery_outcome(),
            runtime.now_ms(),
            u32::from_le_bytes([a, b, c, d]),
        ))
    }

    /// `CALLBACK_TIMEOUT_MS`.
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms.into())
    }

    /// The timeout of a test. It is shorter than the timeout of the call in which a person waits for the test.
    pub fn test_timeout(&self) -> Duration {
        self.timeout().min(MAX_TEST)
    }

    /// Sends a request, unless the guard refuses the request's URL.
    pub async fn call(&self, runtime: &(impl Clock + Http), request: &Request, timeout: Duration) -> HttpCall {
        let allowed = match Url::parse(&request.url) {
            Ok(url) => self
                .guard
                .check_parsed(&url)
                .map_err(|problem| NoAnswer::new("forbidden", format!("not called: the callback URL {problem}"))),
            Err(error) => Err(NoAnswer::new("not_a_url", format!("the callback URL is not valid: {error}"))),
        };
        match allowed {
            Ok(()) => runtime.send(request, timeout).await,
            Err(no_answer) => HttpCall { at_ms: runtime.now_ms(), took_ms: 0, outcome: Err(no_answer) },
        }
    }
}
