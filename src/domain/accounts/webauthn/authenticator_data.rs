//! Authenticator data (section 6.1): the authenticator's statement about the ceremony.

use sha2::{Digest, Sha256};

use super::{error::PasskeyError, relying_party::RelyingParty};

/// Maximum bytes of authenticator data: 37 for the fixed fields, 18 for the credential's header, 1,023 for its id, 530
/// for an RSA key, and 440 for extensions.
pub const MAX_AUTHENTICATOR_DATA: usize = 2_048;

const USER_PRESENT: u8 = 1;
const USER_VERIFIED: u8 = 1 << 2;
const BACKUP_ELIGIBLE: u8 = 1 << 3;
const BACKED_UP: u8 = 1 << 4;
const ATTESTED_CREDENTIAL: u8 = 1 << 6;
const EXTENSIONS: u8 = 1 << 7;

/// Parsed authenticator data. Its CBOR, the new credential's key and extensions, is skipped: browsers deliver the key
/// as SPKI, and some authenticators add extensions even though none is requested.
#[derive(Clone, Copy, Debug)]
pub struct AuthenticatorData<'a> {
    rp_id_hash: &'a [u8; 32],
    flags: u8,
    pub sign_count: u32,
    /// The id of the new credential, which only a registration may have.
    pub attested_id: Option<&'a [u8]>,
}

impl<'a> AuthenticatorData<'a> {
    /// Parses authenticator data. Returns `None` if bytes are missing, or if there is CBOR without a flag for it.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (rp_id_hash, rest) = bytes.split_first_chunk()?;
        let (&flags, rest) = rest.split_first()?;
        let (sign_count, rest) = rest.split_first_chunk()?;
        let (attested_id, cbor) = if flags & ATTESTED_CREDENTIAL == 0 {
            (None, rest)
        } else {
            let (_aaguid, rest) = rest.split_first_chunk::<16>()?;
            let (length, rest) = rest.split_first_chunk()?;
            let (id, cbor) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
            (Some(id), cbor)
        };
        let needs_cbor = flags & (ATTESTED_CREDENTIAL | EXTENSIONS) != 0;
        if cbor.is_empty() == needs_cbor {
            return None;
        }
        Some(Self { rp_id_hash, flags, sign_count: u32::from_be_bytes(*sign_count), attested_id })
    }

    /// Checks the relying party, and that the user was present and verified.
    pub fn check(&self, party: &RelyingParty) -> Result<(), PasskeyError> {
        let expected: [u8; 32] = Sha256::digest(party.id()).into();
        if *self.rp_id_hash != expected {
            Err(PasskeyError::RpId)
        } else if !self.has(USER_PRESENT) {
            Err(PasskeyError::UserNotPresent)
        } else if !self.has(USER_VERIFIED) {
            Err(PasskeyError::UserNotVerified)
        } else if self.is_backed_up() && !self.is_backup_eligible() {
            Err(PasskeyError::BackupFlags)
        } else {
            Ok(())
        }
    }

    /// True if the credential may be copied to other devices. This never changes after the registration.
    pub const fn is_backup_eligible(&self) -> bool {
        self.has(BACKUP_ELIGIBLE)
    }

    /// True if the credential is currently copied to other devices.
    pub const fn is_backed_up(&self) -> bool {
        self.has(BACKED_UP)
    }

    const fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}
