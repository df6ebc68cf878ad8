//! Assertions: a credential's signature over a challenge, as JSON. Checks everything (section 7.2) except the signature
//! itself.

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{
    algorithm::Algorithm,
    authenticator_data::{AuthenticatorData, MAX_AUTHENTICATOR_DATA},
    base64url,
    client_data::{Ceremony, ClientData},
    credential_json,
    error::PasskeyError,
    public_key::PublicKey,
    relying_party::RelyingParty,
    signature::{self, MAX_SIGNATURE},
};
use crate::accounts::challenge::Challenge;

/// The longest user handle that WebAuthn allows, in bytes.
const MAX_USER_HANDLE: usize = 64;

/// `AuthenticatorAssertionResponseJSON`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AssertionJson {
    #[serde(rename = "clientDataJSON")]
    client_data_json: String,
    authenticator_data: String,
    signature: String,
    user_handle: Option<String>,
}

/// A parsed answer to request options, not yet checked.
#[derive(Clone, Debug)]
pub struct Assertion {
    credential_id: Vec<u8>,
    client_data: ClientData,
    authenticator_data: Vec<u8>,
    signature: Vec<u8>,
    user_handle: Option<Vec<u8>>,
}

/// The stored credential whose id an assertion names.
#[derive(Clone, Copy, Debug)]
pub struct StoredCredential<'a> {
    /// The public key, as DER in the form `SubjectPublicKeyInfo`.
    pub spki: &'a [u8],
    /// The signature counter of the last assertion; 0 if the authenticator does not count.
    pub sign_count: u32,
    /// The flag BE (backup eligible) of the registration. Every assertion must have the same value.
    pub is_backup_eligible: bool,
}

/// A checked assertion. It is trusted only after WebCrypto has verified its signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToVerify {
    /// The algorithm of the key.
    pub algorithm: Algorithm,
    /// The public key, as DER in the form `SubjectPublicKeyInfo`.
    pub spki: Vec<u8>,
    /// The authenticator data and SHA-256 of the client data.
    pub message: Vec<u8>,
    /// The signature, in WebCrypto's form.
    pub signature: Vec<u8>,
    /// The new signature counter, to be stored once the signature is verified.
    pub sign_count: u32,
    /// The new flag BS (backed up), to be stored once the signature is verified.
    pub is_backed_up: bool,
}

impl Assertion {
    /// Parses the JSON of `PublicKeyCredential.toJSON()` after `navigator.credentials.get()`.
    pub fn parse(json: &str) -> Result<Self, PasskeyError> {
        let (credential_id, response): (_, AssertionJson) = credential_json::parse(json)?;
        let user_handle = response.user_handle.as_deref();
        Ok(Self {
            credential_id,
            client_data: ClientData::parse(&response.client_data_json)?,
            authenticator_data: base64url::decode(&response.authenticator_data, MAX_AUTHENTICATOR_DATA)?,
            signature: base64url::decode(&response.signature, MAX_SIGNATURE)?,
            user_handle: user_handle.map(|handle| base64url::decode(handle, MAX_USER_HANDLE)).transpose()?,
        })
    }

    /// The raw id, under which the credential is stored.
    pub fn credential_id(&self) -> &[u8] {
        &self.credential_id
    }

    /// The challenge that was answered. The caller must [verify](crate::accounts::challenge::verify) it before
    /// [`Self::check`].
    pub fn challenge(&self) -> &[u8] {
        self.client_data.challenge()
    }

    /// The [handle](crate::accounts::user_handle) of the credential's member. A discoverable credential always has one.
    pub fn user_handle(&self) -> Option<&[u8]> {
        self.user_handle.as_deref()
    }

    /// Checks the answer against the credential that is stored under its id. The [`Challenge`] proves that the caller
    /// has verified the [answered challenge](Self::challenge).
    pub fn check(
        &self,
        party: &RelyingParty,
        _verified: &Challenge,
        stored: &StoredCredential<'_>,
    ) -> Result<ToVerify, PasskeyError> {
        self.client_data.check(Ceremony::Get, party)?;
        let data = AuthenticatorData::parse(&self.authenticator_data).ok_or(PasskeyError::AuthenticatorData)?;
        data.check(party)?;
        if data.attested_id.is_some() {
            return Err(PasskeyError::AuthenticatorData);
        }
        if data.is_backup_eligible() != stored.is_backup_eligible {
            return Err(PasskeyError::BackupFlags);
        }
        let key = PublicKey::from_spki(stored.spki).ok_or(PasskeyError::PublicKey)?;
        let signature = signature::to_raw(&key, &self.signature).ok_or(PasskeyError::SignatureForm)?;
        check_sign_count(stored.sign_count, data.sign_count)?;
        let client_data_hash = Sha256::digest(self.client_data.json());
        Ok(ToVerify {
            algorithm: key.algorithm(),
            spki: stored.spki.to_vec(),
            message: [&self.authenticator_data[..], &client_data_hash].concat(),
            signature,
            sign_count: data.sign_count,
            is_backed_up: data.is_backed_up(),
        })
    }
}

/// Checks that a credential's signature counter increases. Two zeros mean that its authenticator does not count.
pub fn check_sign_count(stored: u32, new: u32) -> Result<(), PasskeyError> {
    let is_allowed = (stored, new) == (0, 0) || new > stored;
    is_allowed.then_some(()).ok_or(PasskeyError::SignCount)
}
