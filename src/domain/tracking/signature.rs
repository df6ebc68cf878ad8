//! Signed clicks (docs/DECISIONS.md, "Clicks"). The publisher's backend signs `app`, `user_id` and optionally `exp`
//! with the app's click secret, so that nobody can click in another user's name.
//!
//! `sig` is the HMAC-SHA256 of `app=<app>&user_id=<user_id>`, followed by `&exp=<exp>` if the link has one, as 64
//! lower-case hexadecimal digits. The values are percent-decoded, and the key is the secret's text.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::parameters::{ClickParameters, present, scan};
use crate::model::{ApiError, SECOND_MS, mac::lower_hex, placeholders::has_macro, time::LATEST_S};

/// The answer to a `sig` that is missing or wrong, or to an `exp` that is not a time.
pub const INVALID_SIGNATURE: ApiError =
    ApiError::new(403, "invalid_signature", "sig is not the signature of this app and user_id");
/// The answer to a valid `sig` after its `exp`.
pub const SIGNATURE_EXPIRED: ApiError =
    ApiError::new(403, "signature_expired", "this link is too old; open the offer again");

/// The minimum and maximum characters of a click secret.
const SECRET_LENGTHS: std::ops::RangeInclusive<usize> = 32..=128;
/// Separates the secrets of an app in the text that is sealed. No secret contains this character.
const SEPARATOR: char = '\n';

/// The secret with which a publisher's backend signs the clicks of an app.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClickSecret(pub String);

impl ClickSecret {
    /// A new secret of 64 hexadecimal digits. `random` must come from a secure source.
    pub fn new(random: [u8; 32]) -> Self {
        Self(hex::encode(random))
    }

    /// The problem with the form of the secret; `None` if it is valid.
    pub fn problem(&self) -> Option<&'static str> {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        let is_valid = SECRET_LENGTHS.contains(&self.0.len()) && self.0.bytes().all(is_allowed);
        (!is_valid).then_some("must be 32 to 128 characters of A-Z, a-z, 0-9, _ and -")
    }
}

impl fmt::Debug for ClickSecret {
    /// Omits the secret, since a document may be logged.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClickSecret")
    }
}

/// The purpose for which the click secrets of an app are sealed.
pub fn purpose(app_id: &str) -> String {
    format!("click_secret/{app_id}")
}

/// The text that is sealed for the edge: the click secret, and the previous one during a rotation.
pub fn sealed_text(secret: &ClickSecret, previous: Option<&ClickSecret>) -> String {
    match previous {
        Some(previous) => format!("{}{SEPARATOR}{}", secret.0, previous.0),
        None => secret.0.clone(),
    }
}

/// Parses the output of [`sealed_text`]: the click secret, and the previous one if there is one.
pub fn secrets_in(opened: &[u8]) -> Option<(ClickSecret, Option<ClickSecret>)> {
    let mut secrets = std::str::from_utf8(opened).ok()?.split(SEPARATOR);
    let mut next = || secrets.next().map(|secret| ClickSecret(secret.to_owned()));
    Some((next()?, next()))
}

/// The keys of an app whose clicks are signed. A signature with any of these keys is valid.
pub struct SigningKeys(Vec<Hmac<Sha256>>);

impl SigningKeys {
    /// Parses the output of [`sealed_text`].
    pub fn parse(opened: &[u8]) -> Option<Self> {
        let secrets = std::str::from_utf8(opened).ok()?.split(SEPARATOR);
        let keys = secrets.map(|secret| Hmac::new_from_slice(secret.as_bytes()).ok());
        keys.collect::<Option<_>>().map(Self)
    }

    /// The `sig` of a click, made with the newest key and with `exp` in UNIX seconds.
    pub fn sign(&self, click: &ClickParameters<'_>, exp: i64) -> Option<String> {
        let mac = mac(self.0.first()?, click, Some(&exp.to_string()));
        Some(hex::encode(mac.finalize().into_bytes()))
    }

    /// Checks the `sig` and `exp` of a click whose other parameters were parsed from the same raw query.
    ///
    /// # Errors
    /// `sig` is missing or wrong, `exp` is not a time or is past, or one of the two is repeated.
    pub fn check(&self, query: &str, click: &ClickParameters<'_>, now_ms: i64) -> Result<(), ApiError> {
        let [sig, exp] = scan(query, &["sig", "exp"])?.map(present);
        let sig = sig.ok_or_else(|| INVALID_SIGNATURE.with_message("sig is missing; links of this app are signed"))?;
        if has_macro(&sig) {
            let found: String = sig.chars().take(40).collect();
            let message = format!("sig is the unreplaced placeholder {found}; replace it with the signature");
            return Err(INVALID_SIGNATURE.with_message(message));
        }
        let presented: [u8; 32] = lower_hex(&sig).ok_or(INVALID_SIGNATURE)?;
        let is_valid = self.0.iter().any(|key| {
            // Compares in constant time.
            mac(key, click, exp.as_deref()).verify_slice(&presented).is_ok()
        });
        if !is_valid {
            return Err(INVALID_SIGNATURE);
        }
        let Some(exp) = exp else {
            return Ok(());
        };
        // A link with milliseconds in place of seconds would never expire.
        match exp.parse::<i64>().ok().filter(|exp| (0..=LATEST_S).contains(exp)) {
            None => Err(INVALID_SIGNATURE.with_message("exp must be a time in UNIX seconds")),
            Some(exp) if now_ms > exp * SECOND_MS => Err(SIGNATURE_EXPIRED),
            Some(_) => Ok(()),
        }
    }
}

/// The unfinished HMAC of a click's signed text.
fn mac(key: &Hmac<Sha256>, click: &ClickParameters<'_>, exp: Option<&str>) -> Hmac<Sha256> {
    let mut mac = key.clone();
    for part in ["app=", &click.app, "&user_id=", &click.user_id] {
        mac.update(part.as_bytes());
    }
    if let Some(exp) = exp {
        mac.update(b"&exp=");
        mac.update(exp.as_bytes());
    }
    mac
}

#[cfg(test)]
mod tests;
