//! The pages and their assets. The build compresses them into data modules. When the isolate starts, `entry.js` puts
//! these modules into a global.

use js_sys::Map;
use wasm_bindgen::{JsCast, JsValue, prelude::wasm_bindgen};
use worker::{
    EncodeBody, Response,
    web_sys::{self, Headers, ResponseInit},
};

use super::{Call, gate};
use crate::http::{HandlerResult, calls::internal};
use domain::{accounts::account::AccountKind, model::common};
use platform::http::{Answer, header};

/// The page may load its own script and call its own host. Its styles are inline and allowed by their hash.
const POLICY: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      base-uri 'none'; form-action 'self'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'; style-src 'self' ";

#[wasm_bindgen]
extern "C" {
    /// The global that `entry.js` sets when the isolate starts.
    #[wasm_bindgen(thread_local_v2, js_name = signpostPages)]
    static PAGES: Option<Pages>;

    type Pages;

    /// The dashboard's page and files.
    #[wasm_bindgen(method, getter)]
    fn dashboard(this: &Pages) -> Site;

    #[wasm_bindgen(method, getter)]
    fn console(this: &Pages) -> Site;

    type Site;

    /// The page as gzip: an ArrayBuffer, which stays in JavaScript.
    #[wasm_bindgen(method, getter)]
    fn page(this: &Site) -> JsValue;

    /// The hash of the styles in the page, as a policy names it.
    #[wasm_bindgen(method, getter, js_name = styleHash)]
    fn style_hash(this: &Site) -> String;

    /// The files that the page names, by path.
    #[wasm_bindgen(method, getter)]
    fn files(this: &Site) -> Map;

    type File;

    #[wasm_bindgen(method, getter, js_name = contentType)]
    fn content_type(this: &File) -> String;

    /// The file as gzip.
    #[wasm_bindgen(method, getter)]
    fn bytes(this: &File) -> JsValue;
}

impl Pages {
    fn of(&self, kind: AccountKind) -> Site {
        match kind {
            AccountKind::Publisher => self.dashboard(),
            AccountKind::Operator => self.console(),
        }
    }
}

/// Serves the only page of a site. The page's script reads the path. A request to this machine's IP address is
/// redirected to `localhost`, because a passkey is bound to a host name.
pub fn page(call: &Call<'_>) -> HandlerResult {
    let config = call.config()?;
    if let Err(error) = gate::check_host(config, call.address.authority) {
        let numbers = ["127.0.0.1", "[::1]"].iter().any(|number| {
            let port = call.address.authority.strip_prefix(number);
            port.is_some() && port == config.host().strip_prefix("localhost")
        });
        if numbers {
            let query = match call.address.query {
                "" => String::new(),
                query => format!("?{query}"),
            };
            let to = format!("{}{}{query}", config.party.origin(), call.address.path);
            return Ok(Answer::new(302).header("Location", to));
        }
        return Err(error.into());
    }
    let response = PAGES.with(|pages| {
        let site = pages.as_ref()?.of(call.kind);
        let policy = format!("{POLICY}'{}'", site.style_hash());
        let headers: &[(&str, &str)] = &[
            ("Content-Type", "text/html; charset=utf-8"),
            ("Cache-Control", "no-cache"),
            ("Content-Security-Policy", &policy),
            ("X-Frame-Options", "DENY"),
        ];
        Some(respond(&site.page(), headers))
    });
    page_answer(response)
}

/// Serves a file that the page names. The name has a hash of the content, so the file never changes.
pub fn asset(call: &Call<'_>) -> HandlerResult {
    let config = call.config()?;
    gate::check_host(config, call.address.authority)?;
    // Refuses pages of other sites, which need none of these files.
    if header(&call.request, "Sec-Fetch-Site").is_some_and(|site| site == "cross-site") {
        return Err(common::NOT_FOUND.into());
    }
    let response = PAGES.with(|pages| {
        let file = pages.as_ref()?.of(call.kind).files().get(&call.address.path.into());
        if file.is_undefined() {
            return None;
        }
        let file: File = file.unchecked_into();
        let headers: &[(&str, &str)] =
            &[("Content-Type", &file.content_type()), ("Cache-Control", "public, max-age=31536000, immutable")];
        Some(respond(&file.bytes(), headers))
    });
    page_answer(response)
}

fn page_answer(response: Option<Result<web_sys::Response, JsValue>>) -> HandlerResult {
    match response {
        // `worker` rebuilds the response, so the encoding is set again.
        Some(Ok(response)) => {
            let response = Response::from(response).with_encode_body(EncodeBody::Manual);
            Ok(Answer::pass_unread(response))
        }
        Some(Err(error)) => Err(internal("site", format_args!("a page could not be sent: {error:?}")).into()),
        None => Err(common::NOT_FOUND.into()),
    }
}

/// Returns a response whose compressed bytes are sent unchanged ([`EncodeBody::Manual`]). Cloudflare unpacks them for a
/// client that does not accept gzip; plain workerd does not.
fn respond(gzip: &JsValue, headers: &[(&str, &str)]) -> Result<web_sys::Response, JsValue> {
    let all = Headers::new()?;
    let common = [
        ("Content-Encoding", "gzip"),
        ("Vary", "Accept-Encoding"),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Strict-Transport-Security", gate::STRICT_TRANSPORT),
    ];
    for (name, value) in common.iter().chain(headers) {
        all.set(name, value)?;
    }
    let init = ResponseInit::new();
    init.set_headers(&all);
    web_sys::Response::new_with_opt_buffer_source_and_init(Some(gzip.unchecked_ref()), &init)
}
