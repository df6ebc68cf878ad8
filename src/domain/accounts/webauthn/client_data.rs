//! Client data: the browser's statement about the ceremony, which the authenticator signs.

use serde::{Deserialize, de::IgnoredAny};

use super::{base64url, error::PasskeyError, relying_party::RelyingParty};

/// Maximum bytes of client data. In Signpost's ceremonies it has about 400 bytes, but browsers may add members.
const MAX_CLIENT_DATA: usize = 2_048;
/// Maximum bytes of a challenge. Issued challenges are shorter.
const MAX_CHALLENGE: usize = 256;

/// The ceremony that client data is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ceremony {
    Create,
    Get,
}

impl Ceremony {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "webauthn.create",
            Self::Get => "webauthn.get",
        }
    }
}

/// Client data, with the bytes from which it was parsed. Unknown members are ignored, as WebAuthn requires.
#[derive(Clone, Debug)]
pub struct ClientData {
    json: Vec<u8>,
    challenge: Vec<u8>,
    members: Members,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Members {
    r#type: String,
    challenge: String,
    origin: String,
    cross_origin: Option<bool>,
    top_origin: Option<IgnoredAny>,
}

impl ClientData {
    /// Parses `clientDataJSON` of a response.
    pub fn parse(encoded: &str) -> Result<Self, PasskeyError> {
        let json = base64url::decode(encoded, MAX_CLIENT_DATA)?;
        let members: Members = serde_json::from_slice(&json).map_err(|_| PasskeyError::ClientData)?;
        let challenge = base64url::decode(&members.challenge, MAX_CHALLENGE)?;
        Ok(Self { json, challenge, members })
    }

    /// The bytes whose hash was signed.
    pub fn json(&self) -> &[u8] {
        &self.json
    }

    /// The challenge that the browser claims to have answered.
    pub fn challenge(&self) -> &[u8] {
        &self.challenge
    }

    /// Checks the ceremony and the origin. The caller has already verified the challenge.
    pub fn check(&self, ceremony: Ceremony, party: &RelyingParty) -> Result<(), PasskeyError> {
        let members = &self.members;
        if members.r#type != ceremony.as_str() {
            Err(PasskeyError::CeremonyType)
        } else if members.origin != party.origin() {
            Err(PasskeyError::Origin)
        } else if members.cross_origin == Some(true) || members.top_origin.is_some() {
            Err(PasskeyError::CrossOrigin)
        } else {
            Ok(())
        }
    }
}
