//! Verifies signatures with the runtime's WebCrypto, so that the module needs no cryptographic library for them.

use js_sys::{Array, JsString, Object, Promise, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue, prelude::wasm_bindgen};
use wasm_bindgen_futures::JsFuture;

use domain::accounts::webauthn::{Algorithm, ToVerify};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = ["crypto", "subtle"], js_name = importKey, catch)]
    fn import_key(
        format: &str,
        key: &Uint8Array,
        algorithm: &Object,
        extractable: bool,
        usages: &Array,
    ) -> Result<Promise, JsValue>;

    #[wasm_bindgen(js_namespace = ["crypto", "subtle"], js_name = verify, catch)]
    fn verify_with(
        algorithm: &Object,
        key: &JsValue,
        signature: &Uint8Array,
        message: &Uint8Array,
    ) -> Result<Promise, JsValue>;
}

/// True if a signature is valid. A key that the runtime does not import, such as a point off its curve, has no valid
/// signature.
pub async fn verifies(signed: &ToVerify) -> bool {
    try_verify(signed).await.is_ok_and(|valid| valid.is_truthy())
}

async fn try_verify(signed: &ToVerify) -> Result<JsValue, JsValue> {
    let algorithm = parameters(signed.algorithm)?;
    let usages = Array::of1(&JsString::from("verify").into());
    let spki = Uint8Array::from(signed.spki.as_slice());
    let key = JsFuture::from(import_key("spki", &spki, &algorithm, false, &usages)?).await?;
    let (signature, message) =
        (Uint8Array::from(signed.signature.as_slice()), Uint8Array::from(signed.message.as_slice()));
    JsFuture::from(verify_with(&algorithm, &key, &signature, &message)?).await
}

/// Returns WebCrypto's parameters for an algorithm. The same parameters import a key and verify a signature.
fn parameters(algorithm: Algorithm) -> Result<Object, JsValue> {
    let members: &[(&str, &str)] = match algorithm {
        Algorithm::Es256 => &[("name", "ECDSA"), ("namedCurve", "P-256"), ("hash", "SHA-256")],
        Algorithm::Rs256 => &[("name", "RSASSA-PKCS1-v1_5"), ("hash", "SHA-256")],
        Algorithm::EdDsa => &[("name", "Ed25519")],
    };
    let object = JsValue::from(Object::new());
    for (name, value) in members {
        Reflect::set(&object, &JsValue::from_str(name), &JsValue::from_str(value))?;
    }
    Ok(object.unchecked_into())
}
