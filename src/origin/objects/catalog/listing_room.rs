//! The room for active offers in the listing, which is one KV value of at most 25 MiB. A PUT of an offer that does not
//! fit is refused, because a listing that is too large could not be published at all.

use super::{revisions, sql};
use domain::model::FieldError;
use platform::{Database, DbResult, params};

/// Maximum bytes of all active offers together: 330,000 offers with an id of 10 bytes and a body of 3,000 bytes. The
/// rest of the 25 MiB is for sets of countries, with 32 bytes for each distinct set.
pub const LISTING_BYTES: i64 = 22 << 20;

/// The bytes of an offer in the listing in addition to its id: 41 for figures, 10 for other columns, and its share of a
/// chunk's key. A chunk has about 64 offers.
const OFFER_BYTES: usize = 52;
/// Body bytes that cost one more byte of the listing. A chunk ends after about 64 offers or 1 MiB of bodies, and each
/// chunk adds a key of 36 bytes.
const BODY_BYTES_A_BYTE: usize = (1 << 20) / 36;

/// Returns the bytes of an offer in the listing; 0 unless it is active.
pub fn bytes_of(id: &str, is_active: bool, body_bytes: usize) -> i64 {
    if !is_active {
        return 0;
    }
    let bytes = OFFER_BYTES + id.len() + body_bytes / BODY_BYTES_A_BYTE;
    i64::try_from(bytes).unwrap_or(LISTING_BYTES)
}

/// Returns the bytes that active offers take now.
pub fn used(db: &impl Database) -> DbResult<i64> {
    revisions::get(db, revisions::LISTED_BYTES).map(Option::unwrap_or_default)
}

/// Refuses an offer or import for which the listing has no room.
pub fn require(used: i64, more: i64) -> Result<(), FieldError> {
    let bytes = used.saturating_add(more);
    if more <= 0 || bytes <= LISTING_BYTES {
        return Ok(());
    }
    let problem = format!(
        "active offers would take {bytes} bytes of the listing, which has room for {LISTING_BYTES}; first \
         deactivate offers that are no longer needed"
    );
    Err(FieldError::new("active", problem))
}

/// Adds to the bytes that active offers take.
pub fn add(db: &impl Database, more: i64) -> DbResult {
    if more == 0 {
        return Ok(());
    }
    db.execute(sql::ADD_TO_MARK, params![revisions::LISTED_BYTES, more])
}
