//! Raw HTTP/1.1 connections, for requests that no HTTP client would send: the bytes go out unchanged.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{Shutdown, TcpStream},
    time::Duration,
};

use ureq::http::{HeaderMap, HeaderName, HeaderValue};

#[cfg(test)]
use super::contract;
use super::{Answer, Signpost};

/// A keep-alive connection.
pub struct Raw {
    stream: BufReader<TcpStream>,
    #[cfg_attr(not(test), allow(dead_code, reason = "only tests look"))]
    checks_api: bool,
}

impl Signpost {
    pub fn raw(&self) -> Raw {
        self.try_raw().expect("workerd listens")
    }

    pub fn try_raw(&self) -> io::Result<Raw> {
        let port = self.ports.lock().expect("ports").http;
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        Ok(Raw { stream: BufReader::new(stream), checks_api: self.setup.checks_api })
    }
}

/// Sends bytes to a base URL on a new connection, closes the sending side and returns everything that was answered, or
/// an empty text. A body that the bytes announce but do not contain never arrives.
pub fn answer_to(address: &str, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address.trim_start_matches("http://")).expect("workerd listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    // The server may close the connection before it has read the whole request.
    let _ = stream.write_all(request);
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

/// Fails the test unless the answer to a complete request conforms to the document of its interface, without separate
/// hosts.
#[cfg(test)]
fn check_contract(answer: &Answer) {
    let line = answer.request.lines().next().unwrap_or_default();
    let (method, rest) = line.split_once(' ').expect("a request");
    let (target, _) = rest.rsplit_once(' ').expect("a request");
    if let Err(problem) = contract::check(method, target, false, answer) {
        panic!("{problem}{answer:?}");
    }
}

impl Raw {
    pub fn get(&mut self, target: &[u8]) -> Answer {
        self.request("GET", target)
    }

    pub fn request(&mut self, method: &str, target: &[u8]) -> Answer {
        let rest = b" HTTP/1.1\r\nHost: t.signpost.example\r\n\r\n";
        let request = [method.as_bytes(), b" ", target, rest].concat();
        self.exchange(&request).unwrap_or_else(|error| panic!("{}: {error}", String::from_utf8_lossy(&request)))
    }

    /// Sends a request, or a part of one, without reading an answer.
    pub fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.stream.get_mut().write_all(request)
    }

    /// Sends a complete request and reads the complete answer. After an error the connection is unusable.
    pub fn exchange(&mut self, request: &[u8]) -> io::Result<Answer> {
        self.send(request)?;
        let answer = Answer { request: String::from_utf8_lossy(request).into_owned(), ..self.receive()? };
        #[cfg(test)]
        if self.checks_api {
            check_contract(&answer);
        }
        Ok(answer)
    }

    /// Reads the answer to an earlier request, without checking it against `openapi.yaml`.
    pub fn receive(&mut self) -> io::Result<Answer> {
        let status = self.line()?.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or(io::ErrorKind::InvalidData)?;
        let mut headers = HeaderMap::new();
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(':') else {
                break;
            };
            headers.append(
                HeaderName::from_bytes(name.as_bytes()).map_err(io::Error::other)?,
                HeaderValue::from_str(value.trim()).map_err(io::Error::other)?,
            );
        }
        let body = if headers.get("Transfer-Encoding").is_some_and(|is| is == "chunked") {
            self.chunks()?
        } else {
            let length = headers.get("Content-Length").and_then(|length| length.to_str().ok()?.parse().ok());
            self.bytes(length.unwrap_or(0))?
        };
        Ok(Answer {
            request: "an earlier request".to_owned(),
            status,
            headers,
            body: String::from_utf8(body).map_err(io::Error::other)?,
        })
    }

    fn chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let length = usize::from_str_radix(&self.line()?, 16).map_err(io::Error::other)?;
            body.extend(self.bytes(length)?);
            self.line()?;
            if length == 0 {
                return Ok(body);
            }
        }
    }

    fn bytes(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        line.truncate(line.trim_end().len());
        Ok(line)
    }
}
