//! The receiver that docs/INTEGRATING.md ("The whole loop") starts. It gets one reward several times and then
//! forged requests.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use crate::{
    cases::{self, Signed},
    now,
    random::Random,
};

struct Receiver {
    process: Child,
    port: u16,
}

impl Receiver {
    fn start(secret: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let process = Command::new("python3")
            .args(["-B", "fixtures/verifiers/receiver.py", &port.to_string(), secret])
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let receiver = Self { process, port };
        for _ in 0..200 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return receiver;
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("the receiver does not listen");
    }

    /// Sends this path and query unchanged, with the request's headers. Returns the status line of the answer.
    fn send(&self, signed: &Signed, target: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let mut text = format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n");
        for (name, value) in &signed.request.headers {
            text += &format!("{name}: {value}\r\n");
        }
        stream.write_all((text + "\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.lines().next().unwrap().to_owned()
    }

    fn end(mut self) -> String {
        self.process.kill().unwrap();
        let mut printed = String::new();
        let mut out = self.process.stdout.take().unwrap();
        out.read_to_string(&mut printed).unwrap();
        printed
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn the_receiver_of_the_readme_prints_each_reward_once_and_no_forgery() {
    let signed = cases::plain_get(&mut Random(7), now());
    let receiver = Receiver::start(&signed.secrets[0]);
    let target = format!("/callback?{}", signed.payload());
    for _ in 0..3 {
        assert_eq!(receiver.send(&signed, &target), "HTTP/1.0 200 OK");
    }
    let dearer = target.replace("value=350", "value=950");
    assert_ne!(dearer, target);
    assert_eq!(receiver.send(&signed, &dearer), "HTTP/1.0 401 Unauthorized");
    assert_eq!(receiver.send(&signed, "/"), "HTTP/1.0 401 Unauthorized");
    let id = &signed.request.headers[0].1;
    assert_eq!(receiver.end(), format!("player-1 350 {id}\n"));
}
