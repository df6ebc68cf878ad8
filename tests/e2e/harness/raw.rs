//! Requests as no HTTP client would let them through: their target goes out byte for byte.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{Shutdown, TcpStream},
    time::Duration,
};

use ureq::http::{HeaderMap, HeaderName, HeaderValue};

#[cfg(test)]
use super::contract;
use super::{Answer, Signpost};

/// A connection that stays open from request to request.
pub struct Raw(BufReader<TcpStream>);

impl Signpost {
    pub fn raw(&self) -> Raw {
        let port = self.ports.lock().expect("ports").http;
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("workerd listens");
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .expect("a timeout");
        Raw(BufReader::new(stream))
    }
}

/// All that is answered to these bytes, at an address as a Signpost gives its own; what they announce and do not bring
/// never comes. Empty if the connection is closed without a word.
pub fn answer_to(address: &str, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address.trim_start_matches("http://")).expect("workerd listens");
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .expect("a timeout");
    // What is refused before its end may be cut off while it is sent.
    let _ = stream.write_all(request);
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

impl Raw {
    pub fn get(&mut self, target: &[u8]) -> Answer {
        self.send("GET", target)
    }

    pub fn send(&mut self, method: &str, target: &[u8]) -> Answer {
        let rest = b" HTTP/1.1\r\nHost: t.signpost.example\r\n\r\n";
        let request = [method.as_bytes(), b" ", target, rest].concat();
        self.0.get_mut().write_all(&request).expect("a request sent");

        let status = self
            .line()
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        let mut headers = HeaderMap::new();
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(':') else {
                break;
            };
            headers.append(
                HeaderName::from_bytes(name.as_bytes()).expect("a header's name"),
                HeaderValue::from_str(value.trim()).expect("a header's value"),
            );
        }
        let length = headers
            .get("Content-Length")
            .and_then(|length| length.to_str().ok());
        let mut body = vec![0; length.map_or(0, |length| length.parse().expect("a length"))];
        self.0.read_exact(&mut body).expect("a body");
        let answer = Answer {
            asked: String::from_utf8_lossy(&request).into_owned(),
            status: status.expect("a status"),
            headers,
            body: String::from_utf8(body).expect("a body of UTF-8"),
        };
        #[cfg(test)]
        if let Err(problem) = contract::check(method, &String::from_utf8_lossy(target), false, &answer) {
            panic!("openapi.yaml: {problem}{answer:?}");
        }
        answer
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("a line of the answer");
        line.truncate(line.trim_end().len());
        line
    }
}
