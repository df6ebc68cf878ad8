//! The room that active offers take in the listing, which is one KV value and so has at most 25 MiB. An offer that does not
//! fit is refused when it is put, because a listing that does not fit could not be published at all.

use super::{revisions, sql};
use domain::model::FieldError;
use platform::{Database, DbResult, params};

/// The bytes that all active offers may take together. At 10 bytes of id and 3,000 of body that is 330,000 offers. The rest
/// of the 25 MiB is left for sets of countries, 32 bytes for each that differs.
pub const LISTING_BYTES: i64 = 22 << 20;

/// The bytes of an offer in the listing, besides its id: 41 of figures, 10 of other columns, and its share of the key of a
/// chunk of about 64.
const OFFER_BYTES: usize = 52;
/// A chunk also ends at 1 MiB of bodies, and its key takes 36 bytes.
const BODY_BYTES_A_BYTE: usize = (1 << 20) / 36;

/// The bytes that an offer takes in the listing: none unless it is active.
pub fn bytes_of(id: &str, is_active: bool, body_bytes: usize) -> i64 {
    if !is_active {
        return 0;
    }
    let bytes = OFFER_BYTES + id.len() + body_bytes / BODY_BYTES_A_BYTE;
    i64::try_from(bytes).unwrap_or(LISTING_BYTES)
}

/// The bytes that active offers take now.
pub fn used(db: &impl Database) -> DbResult<i64> {
    revisions::get(db, revisions::LISTED_BYTES).map(Option::unwrap_or_default)
}

/// Refuses what would take more bytes than there are.
pub fn require(used: i64, more: i64) -> Result<(), FieldError> {
    let bytes = used.saturating_add(more);
    if more <= 0 || bytes <= LISTING_BYTES {
        return Ok(());
    }
    let problem = format!(
        "active offers would take {bytes} bytes of the listing, and may take {LISTING_BYTES}; deactivate offers that are no \
         longer needed first"
    );
    Err(FieldError::new("active", problem))
}

/// Records that active offers take so many bytes more.
pub fn add(db: &impl Database, more: i64) -> DbResult {
    if more == 0 {
        return Ok(());
    }
    db.execute(sql::ADD_TO_MARK, params![revisions::LISTED_BYTES, more])
}
