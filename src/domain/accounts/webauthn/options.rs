//! The options of both ceremonies, as `PublicKeyCredential.parseCreationOptionsFromJSON()` and
//! `parseRequestOptionsFromJSON()` take them.

use serde_json::{Value, json};

use super::{algorithm::Algorithm, base64url, relying_party::RelyingParty};
use crate::accounts::challenge;

/// The member for whom a credential is created.
#[derive(Clone, Copy, Debug)]
pub struct User<'a> {
    /// The [user handle](crate::accounts::user_handle).
    pub handle: &'a [u8],
    /// Distinguishes accounts of one person, such as `Ada Lovelace, Lumen Arcade`.
    pub name: &'a str,
    /// The person's name, for the browser to show.
    pub display_name: &'a str,
}

/// An existing credential.
#[derive(Clone, Copy, Debug)]
pub struct CredentialDescriptor<'a> {
    /// The raw id.
    pub credential_id: &'a [u8],
    /// The transports that the registration reported; may be empty.
    pub transports: &'a [String],
}

impl CredentialDescriptor<'_> {
    fn to_json(self) -> Value {
        json!({
            "type": "public-key",
            "id": base64url::encode(self.credential_id),
            "transports": self.transports,
        })
    }
}

/// `PublicKeyCredentialCreationOptionsJSON`. `existing` lists the member's credentials: an authenticator that already
/// has one of them creates no second credential.
pub fn creation_options(
    party: &RelyingParty,
    user: User<'_>,
    challenge: &[u8],
    existing: &[CredentialDescriptor<'_>],
) -> Value {
    let algorithms = Algorithm::ALL.map(|algorithm| json!({ "type": "public-key", "alg": algorithm.cose() }));
    let existing: Vec<_> = existing.iter().map(|credential| credential.to_json()).collect();
    json!({
        "rp": { "id": party.id(), "name": party.name() },
        "user": {
            "id": base64url::encode(user.handle),
            "name": user.name,
            "displayName": user.display_name,
        },
        "challenge": base64url::encode(challenge),
        "pubKeyCredParams": algorithms,
        "timeout": challenge::LIFE_MS,
        "excludeCredentials": existing,
        "authenticatorSelection": {
            "residentKey": "required",
            "requireResidentKey": true,
            "userVerification": "required",
        },
        "attestation": "none",
    })
}

/// `PublicKeyCredentialRequestOptionsJSON`. `allowed` is empty at a sign-in: the person picks a discoverable
/// credential.
pub fn request_options(party: &RelyingParty, challenge: &[u8], allowed: &[CredentialDescriptor<'_>]) -> Value {
    let allowed: Vec<_> = allowed.iter().map(|credential| credential.to_json()).collect();
    json!({
        "rpId": party.id(),
        "challenge": base64url::encode(challenge),
        "timeout": challenge::LIFE_MS,
        "allowCredentials": allowed,
        "userVerification": "required",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn creation_options_ask_for_a_discoverable_verified_passkey_without_attestation() {
        let party = RelyingParty::parse("Signpost", "https://dash.example.com").unwrap();
        let user = User { handle: &[0xFF; 3], name: "Ada, Lumen Arcade", display_name: "Ada" };
        let existing = CredentialDescriptor { credential_id: &[0xFB, 0xFF], transports: &["usb".to_owned()] };
        let expected = json!({
            "rp": { "id": "dash.example.com", "name": "Signpost" },
            "user": { "id": "____", "name": "Ada, Lumen Arcade", "displayName": "Ada" },
            "challenge": "AQI",
            "pubKeyCredParams": [
                { "type": "public-key", "alg": -7 },
                { "type": "public-key", "alg": -257 },
                { "type": "public-key", "alg": -8 },
            ],
            "timeout": 300_000,
            "excludeCredentials": [{ "type": "public-key", "id": "-_8", "transports": ["usb"] }],
            "authenticatorSelection": {
                "residentKey": "required",
                "requireResidentKey": true,
                "userVerification": "required",
            },
            "attestation": "none",
        });
        assert_eq!(creation_options(&party, user, &[1, 2], &[existing]), expected);
    }

    #[test]
    fn request_options_let_the_person_pick_a_passkey() {
        let party = RelyingParty::parse("Signpost", "http://localhost:8787").unwrap();
        let expected = json!({
            "rpId": "localhost",
            "challenge": "AQI",
            "timeout": 300_000,
            "allowCredentials": [],
            "userVerification": "required",
        });
        assert_eq!(request_options(&party, &[1, 2], &[]), expected);
    }
}
