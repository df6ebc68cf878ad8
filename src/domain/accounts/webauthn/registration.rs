//! Registration: checks the JSON of a new credential (section 7.1).

use serde::Deserialize;

use super::{
    algorithm::Algorithm,
    authenticator_data::{AuthenticatorData, MAX_AUTHENTICATOR_DATA},
    base64url,
    client_data::{Ceremony, ClientData},
    credential_json,
    error::PasskeyError,
    public_key::PublicKey,
    relying_party::RelyingParty,
};
use crate::accounts::challenge::Challenge;

/// Maximum length of an SPKI, in bytes. The SPKI of an RSA key with 4,096 bits has 550.
const MAX_SPKI: usize = 1_024;
/// Maximum transports that are stored. WebAuthn defines six.
const MAX_TRANSPORTS: usize = 8;

/// `AuthenticatorAttestationResponseJSON`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AttestationJson {
    #[serde(rename = "clientDataJSON")]
    client_data_json: String,
    authenticator_data: String,
    public_key: String,
    public_key_algorithm: i64,
    #[serde(default)]
    transports: Vec<String>,
}

/// A parsed answer to creation options, not yet checked.
#[derive(Clone, Debug)]
pub struct Registration {
    credential_id: Vec<u8>,
    client_data: ClientData,
    authenticator_data: Vec<u8>,
    spki: Vec<u8>,
    algorithm: i64,
    transports: Vec<String>,
}

/// A new credential, ready to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCredential {
    /// The raw id, chosen by the authenticator.
    pub credential_id: Vec<u8>,
    /// The algorithm of the key.
    pub algorithm: Algorithm,
    /// The public key, as DER in the form `SubjectPublicKeyInfo`.
    pub spki: Vec<u8>,
    /// The signature counter; 0 if the authenticator does not count.
    pub sign_count: u32,
    /// The ways to reach the authenticator, for the browser's next ceremony.
    pub transports: Vec<String>,
    /// The flag BE (backup eligible): the passkey may be synchronized to other devices. It never changes.
    pub is_backup_eligible: bool,
    /// The flag BS (backed up): the passkey is currently synchronized.
    pub is_backed_up: bool,
}

impl Registration {
    /// Parses the JSON of `PublicKeyCredential.toJSON()` after `navigator.credentials.create()`.
    pub fn parse(json: &str) -> Result<Self, PasskeyError> {
        let (credential_id, response): (_, AttestationJson) = credential_json::parse(json)?;
        let is_transport =
            |text: &String| (1..=32).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
        let transports = response.transports.into_iter().filter(is_transport);
        Ok(Self {
            credential_id,
            client_data: ClientData::parse(&response.client_data_json)?,
            authenticator_data: base64url::decode(&response.authenticator_data, MAX_AUTHENTICATOR_DATA)?,
            spki: base64url::decode(&response.public_key, MAX_SPKI)?,
            algorithm: response.public_key_algorithm,
            transports: transports.take(MAX_TRANSPORTS).collect(),
        })
    }

    /// The challenge that was answered. The caller must [verify](crate::accounts::challenge::verify) it before
    /// [`Self::check`].
    pub fn challenge(&self) -> &[u8] {
        self.client_data.challenge()
    }

    /// Checks the answer. The [`Challenge`] proves that the caller has verified the [answered
    /// challenge](Self::challenge).
    pub fn check(self, party: &RelyingParty, _verified: &Challenge) -> Result<NewCredential, PasskeyError> {
        self.client_data.check(Ceremony::Create, party)?;
        let data = AuthenticatorData::parse(&self.authenticator_data).ok_or(PasskeyError::AuthenticatorData)?;
        data.check(party)?;
        let attested_id = data.attested_id.ok_or(PasskeyError::AuthenticatorData)?;
        if attested_id != self.credential_id {
            return Err(PasskeyError::CredentialId);
        }
        let algorithm = Algorithm::from_cose(self.algorithm).ok_or(PasskeyError::Algorithm)?;
        let key = PublicKey::from_spki(&self.spki).ok_or(PasskeyError::PublicKey)?;
        if key.algorithm() != algorithm {
            return Err(PasskeyError::Algorithm);
        }
        let (sign_count, is_backup_eligible, is_backed_up) =
            (data.sign_count, data.is_backup_eligible(), data.is_backed_up());
        Ok(NewCredential {
            credential_id: self.credential_id,
            algorithm,
            spki: self.spki,
            sign_count,
            transports: self.transports,
            is_backup_eligible,
            is_backed_up,
        })
    }
}
