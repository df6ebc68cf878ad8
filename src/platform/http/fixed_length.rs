//! A streamed body with an announced length. workerd ends a chunked body normally even if its stream failed, so a
//! client could mistake a part for the whole. With an announced length, the client notices that a body is too short.

use futures_util::Stream;
use wasm_bindgen::{JsCast, JsValue, prelude::wasm_bindgen};
use worker::{
    Error, Headers, Response, Result,
    web_sys::{self, ReadableStream},
};

#[wasm_bindgen]
extern "C" {
    type FixedLengthStream;

    #[wasm_bindgen(constructor, catch)]
    fn new(bytes: f64) -> Result<FixedLengthStream, JsValue>;

    type Pipe;

    #[wasm_bindgen(method, catch, js_name = pipeThrough)]
    fn pipe_through(this: &Pipe, through: &JsValue) -> Result<ReadableStream, JsValue>;
}

/// Pipes a body through a transform stream. Returns a response that carries the result.
///
/// # Errors
/// The runtime's exception.
pub fn pipe(body: &JsValue, through: &JsValue) -> Result<Response, JsValue> {
    let stream = body.unchecked_ref::<Pipe>().pipe_through(through)?;
    web_sys::Response::new_with_opt_readable_stream(Some(&stream)).map(Response::from)
}

/// A 200 with `Content-Length` that sends each chunk once the client has taken the chunks before it.
///
/// # Errors
/// The runtime refused a header.
#[expect(clippy::cast_precision_loss, reason = "no body has 2^53 bytes")]
pub fn respond(
    headers: Headers,
    length: u64,
    chunks: impl Stream<Item = Result<Vec<u8>>> + 'static,
) -> Result<Response> {
    let failure = |error: JsValue| Error::RustError(format!("the stream of an answer failed: {error:?}"));
    let chunked: web_sys::Response = Response::from_stream(chunks)?.into();
    let through = FixedLengthStream::new(length as f64).map_err(failure)?;
    Ok(pipe(&chunked.body().into(), &through).map_err(failure)?.with_headers(headers))
}
