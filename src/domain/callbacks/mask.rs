//! The forms in which a receiver may echo a secret. All of them are masked.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::{masked_url, settings::Callback};

/// All forms of a callback's secrets, including those in its URL.
pub fn of_callback(callback: &Callback, longest: usize) -> Vec<String> {
    let md5_secret = callback.legacy_md5.as_ref().map(|legacy| &legacy.secret);
    let secrets = [&callback.secret].into_iter().chain(&callback.previous_secret).chain(md5_secret);
    let secrets = secrets.cloned().chain(masked_url::secrets(&callback.url));
    secrets.flat_map(|secret| forms(&secret, longest)).collect()
}

/// The secret with and without its prefix, each as written, in the encodings of URLs, and in the JSON of several
/// languages. Omits forms longer than `longest` bytes.
fn forms(secret: &str, longest: usize) -> impl Iterator<Item = String> + use<> {
    let texts = [secret, secret.trim_start_matches("whsec_")];
    let forms = texts.map(|text| {
        [
            text.to_owned(),
            utf8_percent_encode(text, NON_ALPHANUMERIC).to_string(),
            form_encoded(text),
            text.replace('/', "\\/"),
        ]
    });
    let mut seen: Vec<String> = Vec::new();
    for form in forms.into_iter().flatten() {
        // A legacy secret may be any text. If it is the prefix alone, nothing is left without the prefix.
        if !form.is_empty() && form.len() <= longest && !seen.contains(&form) {
            seen.push(form);
        }
    }
    seen.into_iter()
}

/// Form encoding as in most URL libraries: unreserved characters stay.
fn form_encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_masked_as_it_is_as_urls_and_as_json_write_it() {
        let all: Vec<_> = forms("whsec_a/b+c=", 1_024).collect();
        assert_eq!(
            all,
            [
                "whsec_a/b+c=",
                "whsec%5Fa%2Fb%2Bc%3D",
                "whsec_a%2Fb%2Bc%3D",
                "whsec_a\\/b+c=",
                "a/b+c=",
                "a%2Fb%2Bc%3D",
                "a\\/b+c=",
            ]
        );
        assert_eq!(forms("whsec_", 1_024).collect::<Vec<_>>(), ["whsec_", "whsec%5F"]);
        assert_eq!(forms(&"ü".repeat(200), 1_024).collect::<Vec<_>>(), ["ü".repeat(200)]);
    }
}
