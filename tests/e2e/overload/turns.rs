//! Connections take turns: some that always have their next request there shut out neither the others nor what goes on by
//! itself. Left alone, workerd goes on with them for as long as they like, and looks at no other socket and no timer.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpStream},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
};

use crate::{
    clicks::CLICK,
    harness::{Receiver, Setup, Signpost},
};

/// Connections that do not wait for their answers.
const RUSHING: usize = 4;
/// How many requests each has on its way at the least: more than any buffer of an answer.
const AHEAD: usize = 200;

/// Ends the rush also when the test fails in it.
struct Rush<'s>(&'s AtomicBool);

impl Drop for Rush<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Sends clicks without end and counts their answers, until it is over.
fn rush(signpost: &Signpost, address: &str, is_over: &AtomicBool, answered: &AtomicUsize) {
    let base = signpost.base();
    let mut sending = TcpStream::connect(base.trim_start_matches("http://")).expect("workerd listens");
    let mut receiving = sending.try_clone().expect("a second handle");
    let requests = format!("GET {address} HTTP/1.1\r\nHost: t.signpost.example\r\n\r\n").repeat(AHEAD);
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut bytes = [0; 1 << 16];
            let mut tail = Vec::new();
            // Each answer has the blank line at its end, and no body.
            while let Ok(read @ 1..) = receiving.read(&mut bytes) {
                tail.extend_from_slice(&bytes[..read]);
                let ends = tail.windows(4).filter(|four| four == b"\r\n\r\n").count();
                answered.fetch_add(ends, Ordering::Relaxed);
                let from = tail.len().saturating_sub(3);
                tail.drain(..from);
            }
        });
        while !is_over.load(Ordering::Relaxed) && sending.write_all(requests.as_bytes()).is_ok() {}
        let _ = sending.shutdown(Shutdown::Both);
    });
}

#[test]
fn connections_that_never_pause_shut_out_neither_others_nor_callbacks() {
    let receiver = Receiver::start();
    let (signpost, _) = Setup::new().start_with_fixtures();
    let wall = signpost.wall("turns", "79100004", Some(&receiver));
    let click = format!("rid={}&app={}&user_id=u-1", wall.goal("1"), wall.app);
    let address = format!("{CLICK}?{click}");
    let (is_over, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        let rush_ends = Rush(&is_over);
        for _ in 0..RUSHING {
            scope.spawn(|| rush(&signpost, &address, &is_over, &answered));
        }
        while answered.load(Ordering::Relaxed) < RUSHING * AHEAD {
            thread::yield_now();
        }
        for n in 0..20 {
            let before = answered.load(Ordering::Relaxed);
            signpost.click(&click, "DE").expect(302);
            wall.pay(&format!("u-{n}"));
            assert!(answered.load(Ordering::Relaxed) > before, "the rush is still on");
        }
        receiver.wait(20);
        drop(rush_ends);
    });
    println!(
        "{} requests of the rush were answered meanwhile",
        answered.load(Ordering::Relaxed)
    );
}
