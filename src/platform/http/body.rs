//! Reading a request's body, no further than its address allows.

use std::time::Duration;

use futures_util::StreamExt;
use worker::{Request, web_sys};

use crate::runtime::{with_timeout, yielding};
use domain::model::api_error::{ApiError, common};

/// How much of a body that is refused is read all the same: the runtime resets a connection whose body is left unread, and
/// the sender would never see why.
const DISCARDED: usize = 4 << 20;
const DISCARDING: Duration = Duration::from_secs(5);
/// The same where something of ours broke, which is told within a second whether or not its reason is read.
const DISCARDING_BROKEN: Duration = Duration::from_millis(500);
/// How long a body may take that is read whole, whose sender has a place meanwhile: 1 MiB at 0.6 Mbit/s, and less for those
/// that are short by their kind.
const READING: Duration = Duration::from_secs(15);
const READING_SHORT: Duration = Duration::from_secs(3);
const SHORT: usize = 16 << 10;

/// The whole body as text, at most `most` bytes of UTF-8.
pub async fn read_text(request: &mut Request, most: usize) -> Result<String, ApiError> {
    String::from_utf8(read(request, most).await?)
        .map_err(|_| common::INVALID_JSON.with_message("the body is not UTF-8"))
}

/// The whole body, at most `most` bytes. It takes memory as its bytes come, and none for a length that is only announced:
/// the module's memory never shrinks, and a head costs its sender nothing.
pub async fn read(request: &mut Request, most: usize) -> Result<Vec<u8>, ApiError> {
    let mut bytes = Vec::new();
    pass_through(request, most, |chunk| bytes.extend_from_slice(chunk)).await?;
    Ok(bytes)
}

/// Reads a body to its end and keeps nothing of it: for who may not ask, and is to learn first that it is too long.
pub async fn measure(request: &mut Request, most: usize) -> Result<(), ApiError> {
    pass_through(request, most, |_| ()).await
}

async fn pass_through(request: &mut Request, most: usize, take: impl FnMut(&[u8])) -> Result<(), ApiError> {
    if request.inner().body().is_none() {
        return Ok(());
    }
    // The express way began to read it, and it ended early.
    if request.inner().body_used() {
        return Err(common::INVALID_JSON.with_message("the body ended early"));
    }
    let time = if most <= SHORT { READING_SHORT } else { READING };
    with_timeout(time, read_out(request, most, take))
        .await
        .unwrap_or_else(|_| Err(common::INVALID_JSON.with_message("the body took too long to arrive")))
}

async fn read_out(request: &mut Request, most: usize, mut take: impl FnMut(&[u8])) -> Result<(), ApiError> {
    let mut length = 0_usize;
    let stream = request.stream();
    let mut stream =
        yielding(stream.map_err(|_| common::INVALID_JSON.with_message("the body does not read"))?);
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|_| common::INVALID_JSON.with_message("the body ended early"))?;
        length += chunk.len();
        if length <= most {
            take(&chunk);
        } else if length > most.saturating_add(DISCARDED) {
            break;
        }
    }
    if length > most {
        return Err(common::PAYLOAD_TOO_LARGE);
    }
    Ok(())
}

/// Reads a body that a refusal with this status left alone, so that the sender comes to read the refusal: see
/// [`DISCARDED`].
pub async fn discard(request: web_sys::Request, status: u16) {
    if request.body_used() || request.body().is_none() {
        return;
    }
    let Ok(stream) = Request::from(request).stream() else {
        return;
    };
    let mut stream = yielding(stream);
    let read_out = async {
        let mut left = DISCARDED;
        while let Some(Ok(chunk)) = stream.next().await {
            left = left.saturating_sub(chunk.len());
            if left == 0 {
                break;
            }
        }
    };
    // A sender that takes its time is not waited for.
    let time = if status == 500 {
        DISCARDING_BROKEN
    } else {
        DISCARDING
    };
    let _ = with_timeout(time, read_out).await;
}

/// A header's value, if the request has it.
pub fn header(request: &Request, name: &str) -> Option<String> {
    request.headers().get(name).ok().flatten()
}

/// Refuses a body of another media type. `required` says whether one without a type is refused too.
pub fn check_media_type(request: &Request, accepted: &[&str], required: bool) -> Result<(), ApiError> {
    let Some(value) = header(request, "Content-Type") else {
        return if required {
            Err(common::UNSUPPORTED_MEDIA_TYPE)
        } else {
            Ok(())
        };
    };
    if is_media_type(&value, accepted) {
        return Ok(());
    }
    Err(common::UNSUPPORTED_MEDIA_TYPE
        .with_message(format!("the Content-Type must be {}", accepted.join(" or "))))
}

/// Whether a `Content-Type` is one of these media types, whatever its parameters.
pub fn is_media_type(content_type: &str, accepted: &[&str]) -> bool {
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    accepted
        .iter()
        .any(|accepted| accepted.eq_ignore_ascii_case(media_type))
}
