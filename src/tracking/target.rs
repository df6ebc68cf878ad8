//! stub
#[derive(Debug)]
pub struct Template(String);
impl Template {
    pub fn parse(url: &str) -> Result<Self, String> { Ok(Self(url.into())) }
}
