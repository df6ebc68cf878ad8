//! Reads the device's platform from a request's headers, and distinguishes confirmed clicks from the requests of
//! crawlers and prefetchers. It compares words instead of matching patterns, since it runs on every click.
//!
//! [`crawlers`] recognizes crawlers by their User-Agent.

pub mod crawlers;

use crate::model::Platform;
use crawlers::is_crawler;

/// The prefixes of words that name a platform.
const DEVICES: [(&str, Platform); 4] =
    [("android", Platform::Android), ("iphone", Platform::Ios), ("ipad", Platform::Ios), ("ipod", Platform::Ios)];

/// Other systems whose User-Agent also names Android or iPhone, because some pages look for these names.
const IMITATORS: [&str; 4] = ["windows", "kaios", "tizen", "sailfish"];

/// The platform of the device, if the User-Agent is unambiguous. `None` for a desktop or an unknown device. An iPad
/// that requests desktop pages sends the User-Agent of a Macintosh.
pub fn device_platform(user_agent: &str) -> Option<Platform> {
    let mut named = None;
    for word in words(user_agent).map(|(word, _)| word) {
        if IMITATORS.iter().any(|imitator| starts_with(word, imitator)) {
            return None;
        }
        let device = DEVICES.iter().find(|(prefix, _)| starts_with(word, prefix));
        if let Some(&(_, platform)) = device
            && named.replace(platform).is_some_and(|other| other != platform)
        {
            return None;
        }
    }
    named
}

const PREFETCHES: [&str; 3] = ["prefetch", "prerender", "preview"];

/// The headers by which browsers announce that they prefetch or preview a link. `entry.js` must have the same list.
pub const PURPOSES: [&str; 4] = ["Purpose", "Sec-Purpose", "X-Purpose", "X-Moz"];

/// True if a browser prefetches the link. `purposes` are the values of [`PURPOSES`], separated by spaces.
pub fn is_prefetch(purposes: &str) -> bool {
    words(purposes).any(|(word, _)| PREFETCHES.iter().any(|name| starts_with(word, name)))
}

/// True if a request is a confirmed click, which takes from the click cap and is counted. A missing header is passed as
/// an empty text. A click without a User-Agent is confirmed, because privacy settings and some apps remove it, and the
/// crawlers that matter identify themselves.
pub fn is_confirmed_click(is_head: bool, user_agent: &str, purposes: &str) -> bool {
    !is_head && !is_prefetch(purposes) && !is_crawler(user_agent)
}

/// The runs of ASCII letters and digits in a header, each with the text from its start to the header's end.
fn words(header: &str) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = header.as_bytes();
    std::iter::from_fn(move || {
        let start = rest.iter().position(u8::is_ascii_alphanumeric)?;
        let (_, on) = rest.split_at_checked(start)?;
        let end = on.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(on.len());
        let (word, after) = on.split_at_checked(end)?;
        rest = after;
        Some((word, on))
    })
}

fn starts_with(text: &[u8], name: &str) -> bool {
    text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()))
}

#[cfg(test)]
mod tests;
