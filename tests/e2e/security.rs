//! What happens when things go wrong: workerd killed at random (`chaos`), a disk that takes no more (`disk`), panics
//! (`panics`). And when somebody wants them to: credentials guessed and revoked (`credentials`, `revocation`), secrets looked
//! for where they should not stand (`secrets`), the operator's interface without its token (`operator`), bodies that lie
//! (`bodies`), one tenant reaching another (`tenants`), click ids replayed, changed and sealed elsewhere (`click_ids`), what is
//! sent to stand where it should not (`injection`), to lead a call elsewhere (`network`), or to use all there is (`resources`).

mod bodies;
mod chaos;
mod click_ids;
mod credentials;
mod disk;
mod injection;
mod network;
mod operator;
mod panics;
mod resources;
mod revocation;
mod secrets;
mod tenants;

/// The bytes of a request that is the last of its connection, with these lines of header; its body, if any, is JSON.
fn request(method_and_target: &str, lines: &[&[u8]], body: &str) -> Vec<u8> {
    let mut request = format!(
        "{method_and_target} HTTP/1.1\r\nHost: signpost.example\r\nConnection: close\r\nContent-Length: {}\r\n",
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

/// The status of an answer as it came over the wire; 0 where there is none.
fn status(answer: &str) -> u16 {
    let status = answer.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3));
    status.and_then(|status| status.parse().ok()).unwrap_or(0)
}
