//! The fair queue of plain workerd: connections that always have more to read block neither other connections nor
//! callbacks. Without it, workerd reads such connections without end and handles no other socket and no timer.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpStream},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use crate::{
    clicks::CLICK,
    harness::{CONVERSION, End, OfferWall, REPORT, Receiver, Setup, Signpost, eventually},
};

/// Connections that do not wait for their answers.
const RUSHING: usize = 4;
/// Requests or chunks in each write, so many that workerd always has more of them to read.
const AHEAD: usize = 200;
/// Clicks, conversions and callbacks of others in the meantime.
const OTHERS: usize = 20;

fn connect(signpost: &Signpost) -> TcpStream {
    TcpStream::connect(signpost.base().trim_start_matches("http://")).expect("workerd listens")
}

/// Sends `begin` and then `more` repeatedly until the rush is over, and counts the redirects.
fn rush(signpost: &Signpost, begin: &str, more: &str, (is_over, answered): (&AtomicBool, &AtomicUsize)) {
    let mut sending = connect(signpost);
    // workerd stops reading a refused request at some point.
    sending.set_write_timeout(Some(Duration::from_secs(5))).expect("a timeout");
    let mut receiving = sending.try_clone().expect("a second handle");
    let more = more.repeat(AHEAD);
    thread::scope(|scope| {
        scope.spawn(move || {
            let (mut bytes, mut tail) = ([0; 1 << 16], Vec::new());
            while let Ok(read @ 1..) = receiving.read(&mut bytes) {
                const REDIRECTED: &[u8] = b"HTTP/1.1 302 ";
                tail.extend_from_slice(&bytes[..read]);
                let found = tail.windows(REDIRECTED.len()).filter(|bytes| *bytes == REDIRECTED);
                answered.fetch_add(found.count(), Ordering::Relaxed);
                tail.drain(..tail.len().saturating_sub(REDIRECTED.len() - 1));
            }
        });
        let _ = sending.write_all(begin.as_bytes());
        while !is_over.load(Ordering::Relaxed) && sending.write_all(more.as_bytes()).is_ok() {}
        let _ = sending.shutdown(Shutdown::Both);
    });
}

/// Checks that clicks, conversions and callbacks of others succeed while `is_on` confirms that the rush goes on.
fn others_are_served(wall: &OfferWall<'_>, receiver: &Receiver, is_on: impl Fn() -> bool) {
    let click = format!("rid={}&app={}&user_id=u-1", wall.goal("1"), wall.app);
    for n in 0..OTHERS {
        wall.signpost.click(&click, "DE").expect(302);
        wall.pay(&format!("u-{n}"));
        assert!(is_on(), "the rush is over");
    }
    receiver.wait(OTHERS);
}

#[test]
fn busy_connections_block_neither_other_requests_nor_callbacks() {
    let receiver = Receiver::start();
    let (signpost, _) = Setup::new().var("FAIR_QUEUE", "true").start_with_fixtures();
    let wall = signpost.offer_wall("fair-queue", "79100004", Some(&receiver));
    let click = format!(
        "GET {CLICK}?rid={}&app={}&user_id=u-1 HTTP/1.1\r\nHost: t.signpost.example\r\n\r\n",
        wall.goal("1"),
        wall.app
    );
    let (is_over, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
    let count = || answered.load(Ordering::Relaxed);
    thread::scope(|scope| {
        let ends = End(&is_over);
        for _ in 0..RUSHING {
            scope.spawn(|| rush(&signpost, "", &click, (&is_over, &answered)));
        }
        eventually(&true, || count() >= RUSHING * AHEAD);
        others_are_served(&wall, &receiver, || {
            let before = count();
            eventually(&true, || count() > before);
            true
        });
        drop(ends);
    });
    println!("{} clicks of the rush were redirected", count());
}

#[test]
fn bodies_of_many_small_chunks_block_neither_other_requests_nor_callbacks() {
    let receiver = Receiver::start();
    let (signpost, _) = Setup::new().var("FAIR_QUEUE", "true").start_with_fixtures();
    let wall = signpost.offer_wall("fair-queue-bodies", "79100005", Some(&receiver));
    let (is_over, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
    // Requests without credentials, which are refused but read, up to 4 MiB each.
    let heads = ["/v1/offer/api", REPORT, CONVERSION, "/v1/operator/import"].map(|path| {
        format!(
            "POST {path} HTTP/1.1\r\nHost: t.signpost.example\r\nContent-Type: application/json\r\n\
             Transfer-Encoding: chunked\r\n\r\n"
        )
    });
    thread::scope(|scope| {
        let ends = End(&is_over);
        for head in &heads {
            let (signpost, is_over, answered) = (&signpost, &is_over, &answered);
            scope.spawn(move || {
                // Reconnects after a refusal.
                while !is_over.load(Ordering::Relaxed) {
                    rush(signpost, head, &"1\r\nx\r\n".repeat(AHEAD), (is_over, answered));
                }
            });
        }
        others_are_served(&wall, &receiver, || true);
        drop(ends);
    });
}
