//! Reading a request's body, no further than its address allows.

use futures_util::StreamExt;
use worker::Request;

use crate::refusal::{Refusal, common};

/// The whole body as text, at most `most` bytes of UTF-8. A body that says it is longer is not read at all, and one that
/// does not say is read no further.
pub async fn read_text(request: &mut Request, most: usize) -> Result<String, Refusal> {
    let announced = header(request, "Content-Length").and_then(|length| length.parse::<usize>().ok());
    if announced.is_some_and(|length| length > most) {
        return Err(common::PAYLOAD_TOO_LARGE);
    }
    let mut bytes = Vec::with_capacity(announced.unwrap_or(0));
    if request.inner().body().is_some() {
        let mut stream = request
            .stream()
            .map_err(|_| common::INVALID_JSON.because("the body does not read"))?;
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.map_err(|_| common::INVALID_JSON.because("the body ended early"))?;
            if bytes.len() + chunk.len() > most {
                return Err(common::PAYLOAD_TOO_LARGE);
            }
            bytes.extend_from_slice(&chunk);
        }
    }
    String::from_utf8(bytes).map_err(|_| common::INVALID_JSON.because("the body is not UTF-8"))
}

/// A header's value, if the request has it.
pub fn header(request: &Request, name: &str) -> Option<String> {
    request.headers().get(name).ok().flatten()
}

/// Refuses a body of another media type. `required` says whether one without a type is refused too.
pub fn check_media_type(request: &Request, accepted: &[&str], required: bool) -> Result<(), Refusal> {
    let Some(value) = header(request, "Content-Type") else {
        return if required {
            Err(common::UNSUPPORTED_MEDIA_TYPE)
        } else {
            Ok(())
        };
    };
    let media_type = value.split(';').next().unwrap_or_default().trim();
    if accepted
        .iter()
        .any(|accepted| accepted.eq_ignore_ascii_case(media_type))
    {
        return Ok(());
    }
    Err(common::UNSUPPORTED_MEDIA_TYPE.because(format!("the Content-Type must be {}", accepted.join(" or "))))
}
