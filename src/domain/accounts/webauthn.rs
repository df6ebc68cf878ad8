//! A relying party of WebAuthn Level 3 (sections 7.1 and 7.2). It checks everything in a passkey's answer except the
//! signature, which the runtime's WebCrypto verifies. So the module contains no cryptography except SHA-256.
//!
//! Attestation is `none`, since an invite or a session authorizes each registration. `PublicKeyCredential.toJSON()`
//! delivers the public key as SPKI, so no CBOR is read. The key's copy in the authenticator data is not compared:
//! without an attestation nobody signs it, so whoever sends a false key could send it twice.

mod algorithm;
mod assertion;
mod authenticator_data;
mod base64url;
mod client_data;
mod credential_id;
mod credential_json;
mod der;
mod error;
mod options;
mod public_key;
mod registration;
mod relying_party;
mod signature;

pub use algorithm::Algorithm;
pub use assertion::{Assertion, StoredCredential, ToVerify, check_sign_count};
pub use credential_id::short as short_id;
pub use error::{PASSKEY_REFUSED, PasskeyError};
pub use options::{CredentialDescriptor, User, creation_options, request_options};
pub use registration::{NewCredential, Registration};
pub use relying_party::RelyingParty;

/// Maximum bytes of the JSON of a passkey's answer. In base64url, client data and authenticator data of 2 KiB each and
/// a key of 1 KiB take 7 KiB together. The id, which appears twice, takes 3 KiB. The attestation object, which is not
/// read, takes 3 KiB.
pub const MAX_JSON: usize = 16 * 1024;

#[cfg(test)]
mod tests;
