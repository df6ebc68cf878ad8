//! Seals a click into a click id, the text that the advertiser sends back with a conversion, and opens it again.
//!
//! The format is in docs/ARCHITECTURE.md, "Formats of ids".
//!
//! The check bytes give no security. They distinguish an id sealed with a key that this instance does not have yet,
//! which the sender should retry, from a text that was never a click id.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use chacha20poly1305::{AeadInOut, Tag};
use hmac::Mac;
use xxhash_rust::xxh64::xxh64;

use super::{
    click::Click,
    click_codec,
    keys::{ClickKey, KeyRing},
};
use crate::model::AppId;

/// Maximum characters of a short click id, and therefore the lowest limit that an offer may set.
pub const SHORT_MAX: usize = 50;
/// Maximum characters of a click id if the offer sets no limit.
pub const DEFAULT_MAX: usize = 255;
/// The highest limit that an offer may set, in characters.
pub const MAX_LENGTH: usize = 1_000;

/// The identity of a click, unique across the service.
pub type Nonce = [u8; 12];

/// The version of an id with the whole click, and of a stored record.
pub const WHOLE: u8 = 1;
/// The version of a short id.
pub const SHORT: u8 = 2;

const HEADER_LEN: usize = 9;
const PREFIX_LEN: usize = HEADER_LEN + size_of::<Nonce>();
const TAG_LEN: usize = 16;
const SHORT_LEN: usize = PREFIX_LEN + TAG_LEN;
/// Capacity for all but the longest clicks, in bytes, so that sealing allocates the buffer once.
const USUAL_LEN: usize = 256;

/// A new click id. If it is short, its record must be stored before the id is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sealed {
    /// The id carries the whole click.
    Whole {
        /// The text for the redirect.
        id: String,
    },
    /// The id refers to a stored record.
    Short {
        /// The text for the redirect.
        id: String,
        /// The sealed click, to be stored under the nonce.
        record: Vec<u8>,
    },
}

impl Sealed {
    /// The text for the redirect.
    pub fn id(&self) -> &str {
        match self {
            Self::Whole { id } | Self::Short { id, .. } => id,
        }
    }
}

/// The content of a click id.
#[allow(
    clippy::large_enum_variant,
    reason = "only one exists at a time, and its caller takes it apart; large only with 64-bit pointers"
)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opened {
    /// The click was in the id.
    Whole {
        /// The click as it was sealed.
        click: Click<'static>,
        /// The identity of the click.
        nonce: Nonce,
    },
    /// The click is in the record stored under the nonce. See [`open_record`].
    Short {
        /// The app of the click.
        app: AppId,
        /// The number of the app's outbox that keeps the user's conversions.
        shard: u8,
        /// The identity of the click.
        nonce: Nonce,
    },
}

impl Opened {
    /// The app of the click, which is readable in both forms.
    pub fn app(&self) -> AppId {
        match self {
            Self::Whole { click, .. } => click.app,
            Self::Short { app, .. } => *app,
        }
    }
}

/// The reason why a click id or its record cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// The text does not have the form of a click id.
    Malformed,
    /// The form is valid, but the key is not in the ring: it is retired, or is not deployed here yet.
    UnknownKey,
    /// The form is valid, but the id was not sealed with the key that it names, or the record belongs to another click.
    Forged,
}

/// Seals a click into an id of at most `max_chars` characters, or into a short id if it does not fit. `max_chars` is
/// from [`SHORT_MAX`] to [`MAX_LENGTH`]. Each click needs its own nonce.
pub fn seal(keys: &KeyRing, click: &Click<'_>, nonce: Nonce, max_chars: usize) -> Sealed {
    let key = keys.sealing();
    let whole = seal_whole(key, click, nonce);
    if text_len(whole.len()) <= max_chars.min(MAX_LENGTH) {
        return Sealed::Whole { id: URL_SAFE_NO_PAD.encode(&whole) };
    }
    let prefix =
        Header { version: SHORT, key_id: key.id(), app: click.app, shard: click.shard, nonce }.prefix(SHORT_LEN);
    let mac = key.short().chain_update(prefix).finalize().into_bytes();
    let mut short = prefix.to_vec();
    short.extend(mac.iter().take(TAG_LEN));
    Sealed::Short { id: URL_SAFE_NO_PAD.encode(&short), record: whole }
}

fn seal_whole(key: &ClickKey, click: &Click<'_>, nonce: Nonce) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(USUAL_LEN);
    bytes.resize(PREFIX_LEN, 0);
    click_codec::pack(click, &mut bytes);
    // The prefix depends on the total length, which is known only now.
    let total = bytes.len() + TAG_LEN;
    let prefix = Header { version: WHOLE, key_id: key.id(), app: click.app, shard: click.shard, nonce }.prefix(total);
    let (space, packed) = bytes.split_at_mut(PREFIX_LEN);
    space.copy_from_slice(&prefix);
    let (header, _) = prefix.split_at(HEADER_LEN);
    let sealed = key.cipher().encrypt_inout_detached(&nonce.into(), header, packed.into());
    match sealed {
        Ok(tag) => bytes.extend_from_slice(&tag),
        // Only a message beyond 256 GiB fails. The bytes are cleared, so that a click can never be sent unencrypted.
        Err(_) => bytes.clear(),
    }
    bytes
}

/// True if a text has the form of a click id under any key, so that [`open`] does not return [`OpenError::Malformed`].
pub fn is_in_form(text: &str) -> bool {
    text.len() <= MAX_LENGTH && URL_SAFE_NO_PAD.decode(text).is_ok_and(|bytes| Header::read(&bytes).is_some())
}

/// Opens a click id.
pub fn open(keys: &KeyRing, id: &str) -> Result<Opened, OpenError> {
    if id.len() > MAX_LENGTH {
        return Err(OpenError::Malformed);
    }
    let mut bytes = URL_SAFE_NO_PAD.decode(id).map_err(|_| OpenError::Malformed)?;
    let header = Header::read(&bytes).ok_or(OpenError::Malformed)?;
    let key = keys.find(header.key_id).ok_or(OpenError::UnknownKey)?;
    let Header { version, app, shard, nonce, .. } = header;
    match version {
        WHOLE => {
            return Ok(Opened::Whole { click: open_whole(key, &header, &mut bytes)?, nonce });
        }
        SHORT => {}
        _ => return Err(OpenError::UnknownKey),
    }
    let (prefix, tag) = bytes.split_at_checked(PREFIX_LEN).ok_or(OpenError::Malformed)?;
    let mac = key.short().chain_update(prefix);
    mac.verify_truncated_left(tag).map_err(|_| OpenError::Forged)?;
    Ok(Opened::Short { app, shard, nonce })
}

/// Opens the record of a short click id. The record must have the app, the shard and the nonce of the id.
pub fn open_record(
    keys: &KeyRing,
    record: &[u8],
    app: AppId,
    shard: u8,
    nonce: Nonce,
) -> Result<Click<'static>, OpenError> {
    let header = Header::read(record).ok_or(OpenError::Malformed)?;
    match header.version {
        WHOLE => {}
        SHORT => return Err(OpenError::Malformed),
        _ => return Err(OpenError::UnknownKey),
    }
    if (header.app, header.shard, header.nonce) != (app, shard, nonce) {
        return Err(OpenError::Forged);
    }
    let key = keys.find(header.key_id).ok_or(OpenError::UnknownKey)?;
    open_whole(key, &header, &mut record.to_vec())
}

fn open_whole(key: &ClickKey, header: &Header, bytes: &mut [u8]) -> Result<Click<'static>, OpenError> {
    let (prefix, sealed) = bytes.split_at_mut_checked(PREFIX_LEN).ok_or(OpenError::Malformed)?;
    let (authenticated, _) = prefix.split_at(HEADER_LEN);
    let (packed, tag) = sealed.split_last_chunk_mut::<TAG_LEN>().ok_or(OpenError::Malformed)?;
    key.cipher()
        .decrypt_inout_detached(&header.nonce.into(), authenticated, (&mut *packed).into(), &Tag::from(*tag))
        .map_err(|_| OpenError::Forged)?;
    // The tag proves that Signpost has packed the click, so only newer code can have packed what does not unpack.
    click_codec::unpack(header.app, header.shard, packed).ok_or(OpenError::UnknownKey)
}

/// The length of `bytes` bytes in base64 without padding, in characters.
const fn text_len(bytes: usize) -> usize {
    (bytes * 4).div_ceil(3)
}

/// The part of a click id that is readable without a key.
#[derive(Clone, Copy)]
struct Header {
    version: u8,
    key_id: u8,
    app: AppId,
    shard: u8,
    nonce: Nonce,
}

impl Header {
    /// The first 21 bytes of a click id that has `total` bytes.
    fn prefix(&self, total: usize) -> [u8; PREFIX_LEN] {
        let [a, b, c, d] = self.app.number().to_be_bytes();
        let [check, check_too] = self.check(total);
        let mut prefix = [0; PREFIX_LEN];
        let (header, nonce) = prefix.split_at_mut(HEADER_LEN);
        header.copy_from_slice(&[self.version, self.key_id, a, b, c, d, self.shard, check, check_too]);
        nonce.copy_from_slice(&self.nonce);
        prefix
    }

    /// Parses the header. Returns `None` unless the bytes have a known version, a length that fits the version, a valid
    /// app and the right check bytes.
    fn read(bytes: &[u8]) -> Option<Self> {
        let (&[version, key_id, a, b, c, d, shard, check, check_too], rest) =
            bytes.split_first_chunk::<HEADER_LEN>()?;
        let (&nonce, _) = rest.split_first_chunk()?;
        let app = AppId::from_number(u32::from_be_bytes([a, b, c, d]))?;
        let header = Self { version, key_id, app, shard, nonce };
        let in_form = match version {
            WHOLE => bytes.len() > SHORT_LEN,
            SHORT => bytes.len() == SHORT_LEN,
            _ => true,
        };
        (in_form && [check, check_too] == header.check(bytes.len())).then_some(header)
    }

    fn check(&self, total: usize) -> [u8; 2] {
        let mut readable = [0; 7 + size_of::<Nonce>()];
        let (head, nonce) = readable.split_at_mut(7);
        let [a, b, c, d] = self.app.number().to_be_bytes();
        head.copy_from_slice(&[self.version, self.key_id, a, b, c, d, self.shard]);
        nonce.copy_from_slice(&self.nonce);
        let [.., high, low] = xxh64(&readable, total as u64).to_be_bytes();
        [high, low]
    }
}

/// The nonces of one isolate: 8 random bytes and a counter. After 2^32 nonces the source is exhausted, and the caller
/// creates another source with new random bytes.
#[derive(Clone, Debug)]
pub struct NonceSource {
    base: [u8; 8],
    next: Option<u32>,
}

impl NonceSource {
    /// Starts a sequence. No other isolate may have the same `base`.
    pub fn new(base: [u8; 8]) -> Self {
        Self { base, next: Some(0) }
    }
}

impl Iterator for NonceSource {
    type Item = Nonce;

    fn next(&mut self) -> Option<Nonce> {
        let counter = self.next?;
        self.next = counter.checked_add(1);
        let mut nonce = [0; 12];
        let (base, count) = nonce.split_at_mut(self.base.len());
        base.copy_from_slice(&self.base);
        count.copy_from_slice(&counter.to_be_bytes());
        Some(nonce)
    }
}

#[cfg(test)]
mod later_tests;
#[cfg(test)]
mod tests;
