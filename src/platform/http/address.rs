//! Splits a request's URL into host, path and query.

use domain::model::ascii_split::split_once;

/// The parts of a URL that the runtime has already validated. Nothing is decoded, and `host` has no port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address<'u> {
    /// The host, with the port if the URL has one.
    pub authority: &'u str,
    pub host: &'u str,
    pub path: &'u str,
    pub query: &'u str,
}

impl<'u> Address<'u> {
    pub fn parse(url: &'u str) -> Option<Self> {
        let (_, rest) = split_once(url, b':')?;
        let rest = rest.strip_prefix("//")?;
        let rest = split_once(rest, b'#').map_or(rest, |(rest, _)| rest);
        let (rest, query) = split_once(rest, b'?').unwrap_or((rest, ""));
        let slash = rest.bytes().position(|byte| byte == b'/');
        let (authority, path) = rest.split_at_checked(slash.unwrap_or(rest.len()))?;
        let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
        Some(Self { authority, host, path, query })
    }
}
