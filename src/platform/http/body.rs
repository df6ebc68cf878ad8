//! Reads a request's headers, and its body with limits of size and time. Every route of both Workers uses it, because
//! it also removes a byte order mark and the blanks around a header's value.

use std::time::Duration;

use futures_util::StreamExt;
use js_sys::Uint8Array;
use worker::{Request, RequestInit, web_sys};

use crate::{
    log,
    runtime::{with_timeout, yielding},
};
use domain::model::{ApiError, common};

/// Maximum bytes of a refused body that are read and discarded. The runtime resets a connection with an unread body,
/// and the sender would then not receive the error.
const MAX_DISCARDED: usize = 4 << 20;
const DISCARD_TIMEOUT: Duration = Duration::from_secs(5);
/// The timeout after an internal error, which must be answered within a second.
const DISCARD_TIMEOUT_BROKEN: Duration = Duration::from_millis(500);
/// The time for a whole body, during which its request holds a permit: enough for 1 MiB at 0.6 Mbit/s. A body whose
/// limit or announced length is at most [`SHORT`] bytes has [`READ_TIMEOUT_SHORT`].
const READ_TIMEOUT: Duration = Duration::from_secs(15);
const READ_TIMEOUT_SHORT: Duration = Duration::from_secs(3);
const SHORT: usize = 16 << 10;
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads the whole body as text, at most `most` bytes of UTF-8.
pub async fn read_text(request: &mut Request, most: usize) -> Result<String, ApiError> {
    String::from_utf8(read(request, most).await?)
        .map_err(|_| common::INVALID_JSON.with_message("the body is not UTF-8"))
}

/// Reads the whole body, at most `most` bytes, and strips a byte order mark. Memory is allocated as bytes arrive, not
/// up front from `Content-Length`: an attacker can announce any length at no cost, and the module's memory never
/// shrinks.
pub async fn read(request: &mut Request, most: usize) -> Result<Vec<u8>, ApiError> {
    let mut bytes = Vec::new();
    pass_through(request, most, |chunk| bytes.extend_from_slice(chunk)).await?;
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    Ok(bytes)
}

/// Waits until the whole body has arrived, so that its reader need not wait. Replaces a body of more than `most` bytes
/// with `most` + 1 spaces, so that its reader refuses it.
pub async fn receive(request: &mut Request, most: usize) -> Result<(), ApiError> {
    let mut bytes = Vec::new();
    match arrive(request, most, |chunk| bytes.extend_from_slice(chunk)).await {
        Err(error) if error == common::PAYLOAD_TOO_LARGE => bytes.resize(most.saturating_add(1), b' '),
        arrived => arrived?,
    }
    let mut init = RequestInit::new();
    init.with_method(request.method())
        .with_headers(request.headers().clone())
        .with_body(Some(Uint8Array::from(bytes.as_slice()).into()));
    *request = Request::new_with_init(&request.inner().url(), &init).map_err(|error| {
        log::error("body", error);
        common::INTERNAL_ERROR
    })?;
    Ok(())
}

/// Checks a body's size without storing it, for a sender without valid credentials.
pub async fn measure(request: &mut Request, most: usize) -> Result<(), ApiError> {
    pass_through(request, most, |_| ()).await
}

async fn pass_through(request: &mut Request, most: usize, take: impl FnMut(&[u8])) -> Result<(), ApiError> {
    if request.inner().body().is_none() {
        return Ok(());
    }
    check_encoding(request, "identity")?;
    arrive(request, most, take).await
}

async fn arrive(request: &mut Request, most: usize, take: impl FnMut(&[u8])) -> Result<(), ApiError> {
    // A body is used here only if the fast path read it and it ended early.
    if request.inner().body_used() {
        return Err(common::INVALID_JSON.with_message("the body ended early"));
    }
    let announced = header(request, "Content-Length").and_then(|length| length.parse().ok());
    let timeout = if most.min(announced.unwrap_or(most)) <= SHORT { READ_TIMEOUT_SHORT } else { READ_TIMEOUT };
    with_timeout(timeout, read_chunks(request, most, take))
        .await
        .unwrap_or_else(|_| Err(common::INVALID_JSON.with_message("the body took too long to arrive")))
}

async fn read_chunks(request: &mut Request, most: usize, mut take: impl FnMut(&[u8])) -> Result<(), ApiError> {
    let mut length = 0_usize;
    let stream = request.stream();
    let mut stream = yielding(stream.map_err(|_| common::INVALID_JSON.with_message("the body cannot be read"))?);
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|_| common::INVALID_JSON.with_message("the body ended early"))?;
        length += chunk.len();
        if length <= most {
            take(&chunk);
        } else if length > most.saturating_add(MAX_DISCARDED) {
            break;
        }
    }
    if length > most {
        return Err(common::PAYLOAD_TOO_LARGE);
    }
    Ok(())
}

/// Reads and discards the body of a refused request, so that the sender receives the error: see [`MAX_DISCARDED`].
/// Returns whether any bytes arrived.
pub async fn discard(request: web_sys::Request, status: u16) -> bool {
    if request.body_used() || request.body().is_none() {
        return false;
    }
    let Ok(stream) = Request::from(request).stream() else {
        return false;
    };
    let (mut stream, mut has_come) = (yielding(stream), false);
    let discarded = async {
        let mut left = MAX_DISCARDED;
        while let Some(Ok(chunk)) = stream.next().await {
            has_come |= !chunk.is_empty();
            left = left.saturating_sub(chunk.len());
            if left == 0 {
                break;
            }
        }
    };
    // A slow sender must not delay the answer.
    let timeout = if status == 500 { DISCARD_TIMEOUT_BROKEN } else { DISCARD_TIMEOUT };
    let _ = with_timeout(timeout, discarded).await;
    has_come
}

/// True if a request may have a non-empty body. A body without a length may be empty.
pub fn exists(request: &Request) -> bool {
    request.inner().body().is_some() && header(request, "Content-Length").is_none_or(|length| length != "0")
}

/// A header's value without surrounding blanks, which do not belong to it (RFC 9110, section 5.5) but which workerd
/// keeps.
pub fn header(request: &Request, name: &str) -> Option<String> {
    let value = request.headers().get(name).ok().flatten()?;
    Some(value.trim().to_owned())
}

/// Refuses an encoded body, for example gzip. `accepted` names the accepted encoding in the message.
pub fn check_encoding(request: &Request, accepted: &str) -> Result<(), ApiError> {
    match header(request, "Content-Encoding") {
        Some(encoding) if !encoding.is_empty() && !encoding.eq_ignore_ascii_case("identity") => {
            let problem = format!("the Content-Encoding must be {accepted} or absent, not {encoding:.40}");
            Err(common::UNSUPPORTED_MEDIA_TYPE.with_message(problem))
        }
        _ => Ok(()),
    }
}

/// Refuses a body of another media type. If `required`, a body without a type is also refused.
pub fn check_media_type(request: &Request, accepted: &[&str], required: bool) -> Result<(), ApiError> {
    let refusal = common::UNSUPPORTED_MEDIA_TYPE;
    match header(request, "Content-Type") {
        None if required => Err(refusal),
        Some(value) if !is_media_type(&value, accepted) => {
            Err(refusal.with_message(format!("the Content-Type must be {}", accepted.join(" or "))))
        }
        _ => Ok(()),
    }
}

/// True if a `Content-Type` is one of these media types. Ignores its parameters.
pub fn is_media_type(content_type: &str, accepted: &[&str]) -> bool {
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    accepted.iter().any(|accepted| accepted.eq_ignore_ascii_case(media_type))
}
