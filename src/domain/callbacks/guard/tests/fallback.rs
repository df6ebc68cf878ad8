//! URLs to which users are redirected.

use super::guard;

#[test]
fn a_fallback_url_is_https_on_port_443_and_else_as_a_callback() {
    let port = |port| format!("must be on port 443, not {port}");
    for (url, production) in [
        ("https://acme.example.com/more?from={user_id}#part", Ok(())),
        ("HTTPS://acme.example.com:443/more", Ok(())),
        ("https://acme.example.com:8443/more", Err(port(8443))),
        ("https://acme.example.com:80/more", Err(port(80))),
        ("http://acme.example.com/more", Err("must begin with https://".to_owned())),
        ("http://acme.example.com:443/more", Err("must begin with https://".to_owned())),
        ("http://localhost:9000/more", Err("must begin with https://".to_owned())),
    ] {
        assert_eq!(guard(false).check_default_port(url), production, "{url}");
        assert_eq!(guard(true).check_default_port(url), Ok(()), "{url}");
    }
    for url in [
        "https://user@acme.example.com/",
        "https://track.example.com/",
        "https://printer.local/",
        "ftp://acme.example.com/",
        "https://acme.example.com:22/",
    ] {
        for guard in [guard(false), guard(true)] {
            assert!(guard.check_default_port(url).is_err(), "{url}");
        }
    }
    assert!(guard(false).check_default_port("https://10.0.0.1/").is_err());
}
