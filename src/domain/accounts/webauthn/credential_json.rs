//! The JSON of a public key credential, which is the answer in both ceremonies.

use serde::{Deserialize, de::DeserializeOwned};

use super::{MAX_JSON, credential_id, error::PasskeyError};

/// `RegistrationResponseJSON` or `AuthenticationResponseJSON`, depending on the response type `R`. Unknown members are
/// ignored, since browsers add some.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CredentialJson<R> {
    id: String,
    raw_id: String,
    r#type: String,
    response: R,
}

/// Returns the credential's id and its response. The JSON has the id twice, and both copies must be equal.
pub fn parse<R: DeserializeOwned>(json: &str) -> Result<(Vec<u8>, R), PasskeyError> {
    if json.len() > MAX_JSON {
        return Err(PasskeyError::TooLong);
    }
    let json: CredentialJson<R> = serde_json::from_str(json).map_err(|_| PasskeyError::Json)?;
    if json.r#type != "public-key" {
        return Err(PasskeyError::Json);
    }
    if json.id != json.raw_id {
        return Err(PasskeyError::CredentialId);
    }
    Ok((credential_id::parse(&json.id)?, json.response))
}
