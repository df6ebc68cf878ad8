//! What a request's headers tell about who clicked: the device's platform, and whether a click is a confirmed one, in
//! the specification's words, or a machine's look at the link. Decided from words, since it is asked on every click.

use crate::model::Platform;

/// A platform is named by a word that begins so.
const DEVICES: [(&str, Platform); 4] = [
    ("android", Platform::Android),
    ("iphone", Platform::Ios),
    ("ipad", Platform::Ios),
    ("ipod", Platform::Ios),
];

/// Systems of their own that name Android or iPhone as well, for the sake of pages that look for these.
const IMITATORS: [&str; 4] = ["windows", "kaios", "tizen", "sailfish"];

/// The platform of the device, where the User-Agent says so without doubt. `None` is a desktop or unknown: an iPad
/// that asks for desktop pages, too, is a Macintosh by its User-Agent.
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

/// What the last word of a crawler's name ends with.
const CRAWLER_ENDINGS: [&str; 6] = ["bot", "bots", "spider", "crawler", "crawl", "scraper"];

/// Words with such an ending that are no crawlers: CUBOT makes phones.
const NOT_CRAWLERS: [&str; 1] = ["cubot"];

/// What else crawlers, link previewers and monitors call themselves, from the beginning of a word, by its first letter.
///
/// In-app browsers are people, so a name that the app shares with its previewer (Instagram, Pinterest, Snapchat,
/// TikTok, LINE) is not here. Neither are HTTP libraries (okhttp, CFNetwork, axios, curl, …): an app or its backend
/// that calls the tracking URL, as the specification's 4.3 has it, does so with one.
fn crawler_names(initial: u8) -> &'static [&'static str] {
    match initial {
        b'a' => &["adsbot-google", "apis-google", "archive.org"],
        b'b' => &["barkrowler", "bingpreview", "bubing"],
        b'c' => &[
            "chatgpt-user",
            "chrome-lighthouse",
            "claude-user",
            "claude-web",
            "cohere-ai",
        ],
        b'd' => &["daum/", "duckassist"],
        b'e' => &["embedly"],
        b'f' => &[
            "facebookcatalog",
            "facebookexternalhit",
            "facebookexternalua",
            "feedfetcher",
            "flipboardproxy",
        ],
        b'g' => &[
            "google favicon",
            "google-extended",
            "google-inspectiontool",
            "google-pagerenderer",
            "google-read-aloud",
            "google-safety",
            "google-site-verification",
            "google-structured-data",
            "googleother",
            "google web preview",
            "gtmetrix",
        ],
        b'h' => &["headlesschrome", "heritrix", "httrack"],
        b'i' => &["ia_archiver", "iframely"],
        b'k' => &["kakaotalk-scrap"],
        b'l' => &["lighthouse", "line-poker"],
        b'm' => &[
            "mediapartners-google",
            "meta-externalads",
            "meta-externalagent",
            "meta-externalfetcher",
            "microsoftpreview",
        ],
        b'n' => &["nutch"],
        b'o' => &["outbrain"],
        b'p' => &["perplexity-user", "phantomjs", "pingdom", "proximic", "ptst/"],
        b'q' => &["quora link preview", "qwantify"],
        b's' => &[
            "scrapy",
            "site24x7",
            "skypeuripreview",
            "slack-imgproxy",
            "slurp",
            "snap url preview",
            "statuscake",
        ],
        b't' => &["tumblr/"],
        b'v' => &["virustotal", "vkshare"],
        b'w' => &["w3c_validator", "whatsapp/", "wordpress/"],
        b'y' => &["yandeximages", "yandexmedia", "yandexmetrika", "yeti/"],
        _ => &[],
    }
}

/// Whether a User-Agent is that of a crawler, a link previewer or a monitor.
pub fn is_crawler(user_agent: &str) -> bool {
    words(user_agent).any(|(word, on)| {
        let ends = CRAWLER_ENDINGS.iter().any(|ending| ends_with(word, ending));
        let named = || {
            let initial = word.first().map_or(0, u8::to_ascii_lowercase);
            crawler_names(initial).iter().any(|name| starts_with(on, name))
        };
        (ends
            && !NOT_CRAWLERS
                .iter()
                .any(|name| word.eq_ignore_ascii_case(name.as_bytes())))
            || named()
    })
}

const PREFETCHES: [&str; 3] = ["prefetch", "prerender", "preview"];

/// Whether a browser fetches the link before anyone follows it, by the values of its `Purpose` and `Sec-Purpose`.
pub fn is_prefetch(purpose: &str, sec_purpose: &str) -> bool {
    [purpose, sec_purpose]
        .into_iter()
        .any(|value| words(value).any(|(word, _)| PREFETCHES.iter().any(|name| starts_with(word, name))))
}

/// Whether a request is a confirmed click: it takes from the click cap and is counted. A header that is missing is
/// empty here. A missing User-Agent says nothing against a click: privacy settings and apps leave it out, and crawlers that matter name themselves.
pub fn counts(is_head: bool, user_agent: &str, purpose: &str, sec_purpose: &str) -> bool {
    !is_head && !is_prefetch(purpose, sec_purpose) && !is_crawler(user_agent)
}

/// The runs of ASCII letters and digits in a header, each also with all that comes after it.
fn words(header: &str) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = header.as_bytes();
    std::iter::from_fn(move || {
        let start = rest.iter().position(u8::is_ascii_alphanumeric)?;
        let (_, on) = rest.split_at_checked(start)?;
        let end = on
            .iter()
            .position(|byte| !byte.is_ascii_alphanumeric())
            .unwrap_or(on.len());
        let (word, after) = on.split_at_checked(end)?;
        rest = after;
        Some((word, on))
    })
}

fn starts_with(text: &[u8], name: &str) -> bool {
    text.get(..name.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()))
}

fn ends_with(text: &[u8], name: &str) -> bool {
    let start = text.len().checked_sub(name.len());
    start
        .and_then(|start| text.get(start..))
        .is_some_and(|end| end.eq_ignore_ascii_case(name.as_bytes()))
}

#[cfg(test)]
mod tests;
