//! Reads the records of short click ids.

use std::time::Duration;

use contract::{clicks, operation::Bytes};
use domain::{
    conversions::state::CONVERSION_WINDOW_CLOSED,
    model::{ApiError, common},
    tracking::Nonce,
};
use platform::{ObjectCall, log, workers::Workers};

const RECORD_TIMEOUT: Duration = Duration::from_secs(5);

/// Returns the record of a short click id. The record was stored before the redirect and outlives every conversion
/// window, so a missing record means that the window has closed.
pub async fn record(workers: &Workers, nonce: Nonce) -> Result<Vec<u8>, ApiError> {
    let get = clicks::Get { nonce: Bytes(nonce.to_vec()) };
    let found = workers.call(&clicks::address(&nonce), get, RECORD_TIMEOUT).await;
    let found = found.map_err(|error| {
        log::error("conversion", error);
        common::UNAVAILABLE
    })?;
    found.record.map(|record| record.0).ok_or(CONVERSION_WINDOW_CLOSED)
}
