//! Tests of failures and attacks. Failures: workerd killed at random (`chaos`), full disks (`disk`), panics (`panics`).
//! Attacks: guessed and revoked credentials (`credentials`, `revocation`), leaked secrets (`secrets`), the operator's
//! interface without its token (`operator`), bodies with false lengths (`bodies`), access to other tenants (`tenants`),
//! erased users (`erasure`), forged click ids (`click_ids`), made-up clicks (`figures`), injection (`injection`),
//! server-side request forgery (`network`), and exhaustion of resources (`resources`).

mod bodies;
pub mod chaos;
mod click_ids;
mod credentials;
mod crowd;
mod disk;
mod erasure;
mod figures;
mod injection;
mod network;
mod objects;
mod operator;
mod panics;
mod resources;
mod revocation;
mod secrets;
mod tenants;

/// The bytes of a request with `Connection: close` and these header lines. A body, if any, is sent as JSON.
fn request(method_and_target: &str, lines: &[&[u8]], body: &str) -> Vec<u8> {
    let mut request = format!(
        "{method_and_target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n",
        body.len()
    )
    .into_bytes();
    if !body.is_empty() {
        request.extend_from_slice(b"Content-Type: application/json\r\n");
    }
    for line in lines {
        request.extend_from_slice(line);
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"\r\n");
    request.extend_from_slice(body.as_bytes());
    request
}

/// The status of a raw answer, or 0 if there is none.
fn status(answer: &str) -> u16 {
    let status = answer.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3));
    status.and_then(|status| status.parse().ok()).unwrap_or(0)
}
