//! Tests of the signers of clicks in `fixtures/signers/`, in every installed language: the edge takes what they sign.

use std::process::Command;

use serde::Serialize;

use crate::{is_installed, now, random::Random, run_on_lines, skipped};
use domain::tracking::{
    parameters::ClickParameters,
    signature::{ClickSecret, SigningKeys, sealed_text},
};

const CHARACTERS: [&str; 8] = ["a", "Z", "0", "9", "_", "@", "-", "."];

/// A link that a publisher's backend signs.
#[derive(Debug, Serialize)]
struct Link {
    secret: String,
    app: String,
    user_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    exp: Option<u64>,
}

impl Link {
    fn any(random: &mut Random, now: u64) -> Self {
        let mut text = |longest: usize| -> String { (0..longest).map(|_| random.one(&CHARACTERS)).collect() };
        // An id that begins with a letter is never a placeholder, as `@user_id@` would be.
        let (secret, user_id) = (text(40).replace(['@', '.'], "x"), format!("a{}", text(11)));
        Self {
            secret,
            app: format!("{:08}", random.below(100_000_000)),
            user_id,
            exp: (random.below(2) == 0).then(|| now + 60),
        }
    }

    /// The code of the answer to a click with this signature.
    fn code(&self, sig: &str, now_ms: i64) -> &'static str {
        let Self { secret, app, user_id, .. } = self;
        let exp = self.exp.map(|exp| format!("&exp={exp}")).unwrap_or_default();
        let query = format!("rid=1&app={app}&user_id={user_id}{exp}&sig={sig}");
        let keys = SigningKeys::parse(sealed_text(&ClickSecret(secret.clone()), None).as_bytes()).unwrap();
        let click = ClickParameters::parse(&query).unwrap();
        let checked = keys.check(&query, &click, now_ms);
        checked.err().map_or("ok", |refusal| refusal.code)
    }
}

fn assert_signs(signer: &str, sign: impl FnOnce(&[Link]) -> Vec<String>) {
    let now = now();
    let random = &mut Random(now.unsigned_abs());
    let links: Vec<_> = (0..200).map(|_| Link::any(random, now.unsigned_abs())).collect();
    let signatures = sign(&links);
    assert_eq!(signatures.len(), links.len(), "{signer}");
    for (link, sig) in links.iter().zip(&signatures) {
        assert_eq!(link.code(sig, now * 1_000), "ok", "{signer}: {link:?} {sig}");
        let later_ms = (now + 61) * 1_000;
        let later = if link.exp.is_some() { "signature_expired" } else { "ok" };
        assert_eq!(link.code(sig, later_ms), later, "{signer}: {link:?}");
    }
    let (first, second) = (&signatures[0], &signatures[1]);
    assert_eq!(links[0].code(second, now * 1_000), "invalid_signature");
    assert_ne!(first, second);
}

#[test]
fn the_python_signer_signs_what_the_edge_takes() {
    assert_signs("sign.py", |links| {
        run_on_lines(Command::new("python3").args(["-B", "fixtures/signers/sign.py"]), links)
    });
}

#[test]
fn the_node_signer_signs_what_the_edge_takes() {
    assert_signs("sign.mjs", |links| run_on_lines(Command::new("node").arg("fixtures/signers/sign.mjs"), links));
}

#[test]
fn the_rust_signer_signs_what_the_edge_takes() {
    assert_signs("sign.rs", |links| {
        let sign = |link: &Link| crate::sign::sign(&link.secret, &link.app, &link.user_id, link.exp);
        links.iter().map(sign).collect()
    });
}

#[test]
fn the_php_and_go_signers_sign_what_the_edge_takes() {
    for (program, version, arguments) in [
        ("php", "--version", &["fixtures/signers/sign.php"][..]),
        ("go", "version", &["run", "fixtures/signers/sign.go"]),
    ] {
        if is_installed(program, version) {
            assert_signs(program, |links| run_on_lines(Command::new(program).args(arguments), links));
        } else {
            skipped("signer", program);
        }
    }
}
