//! The reasons to refuse a passkey's answer. The log gets the reason. The caller gets the same error for every reason,
//! since a person can only try again, and an attacker should not learn which check failed.

use std::fmt;

use crate::model::ApiError;

/// The single error that a caller gets for every [`PasskeyError`].
pub const PASSKEY_REFUSED: ApiError = ApiError::new(401, "passkey_refused", "the passkey was not accepted");

crate::named_values! {
    /// The check that a passkey's answer failed, with its text for the log.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum PasskeyError {
        /// The answer is not the JSON of a public key credential.
        Json = "json",
        /// A part of the answer is longer than a valid one can be.
        TooLong = "too_long",
        /// A part of the answer is not base64url without padding.
        Base64 = "base64",
        /// `clientDataJSON` is not the JSON of client data.
        ClientData = "client_data",
        /// The answer is from a registration where a sign-in was expected, or the reverse.
        CeremonyType = "ceremony_type",
        /// The ceremony ran on a page of another origin.
        Origin = "origin",
        /// The ceremony ran in a frame of another origin.
        CrossOrigin = "cross_origin",
        /// The authenticator data is malformed, lacks the new credential at a registration, or has one at a sign-in.
        AuthenticatorData = "authenticator_data",
        /// The passkey belongs to another relying party.
        RpId = "rp_id",
        /// The flag UP is not set: nobody touched the authenticator.
        UserNotPresent = "user_not_present",
        /// The flag UV is not set: neither PIN nor biometrics were checked.
        UserNotVerified = "user_not_verified",
        /// The backup flags contradict each other, or the flag BE differs from the registration.
        BackupFlags = "backup_flags",
        /// The credential's id has a length that WebAuthn does not allow, or the answer names two ids.
        CredentialId = "credential_id",
        /// The answer names an algorithm that Signpost did not offer, or the key has a different algorithm.
        Algorithm = "algorithm",
        /// The public key is malformed or has an unsupported form.
        PublicKey = "public_key",
        /// The signature does not have the form of its algorithm.
        SignatureForm = "signature_form",
        /// The signature counter did not increase: the credential may have been cloned.
        SignCount = "sign_count",
    }
}

impl fmt::Display for PasskeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<PasskeyError> for ApiError {
    fn from(_: PasskeyError) -> Self {
        PASSKEY_REFUSED
    }
}
