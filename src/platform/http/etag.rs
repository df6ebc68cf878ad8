//! Entity tags in requests (RFC 9110, sections 8.8.3 and 13.1). A proxy that compresses an answer marks its tag as weak.
//! Tags are therefore compared weakly: they stand for versions of the data, and not for the bytes of an answer.

/// A tag as the service made it.
fn strong(tag: &str) -> &str {
    tag.trim().trim_start_matches("W/")
}

/// A tag without its quotes.
pub fn value(tag: &str) -> &str {
    strong(tag).trim_matches('"')
}

/// True if an `If-Match` or `If-None-Match` lists this tag.
pub fn lists(header: &str, etag: &str) -> bool {
    header.split(',').map(strong).any(|listed| listed == "*" || listed == etag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_listed_weak_or_strong() {
        for header in ["*", "\"5\"", "W/\"5\"", "\"4\", W/\"5\" , \"6\""] {
            assert!(lists(header, "\"5\""), "{header}");
        }
        for header in ["", "5", "\"55\"", "W/\"4\""] {
            assert!(!lists(header, "\"5\""), "{header}");
        }
    }
}
