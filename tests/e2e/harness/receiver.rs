//! A publisher's callback server on a loopback port. It records requests and answers as the test wants, or not at all.
//! Dropping it ends all of its threads.

use std::{
    collections::BTreeMap,
    io::{self, BufReader, Write},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use super::now_ms;

mod request;

pub use request::Received;

/// How long a test waits for requests that should come at once, on a busy machine.
const PATIENCE_MS: i64 = 30_000;

/// How a receiver answers a request that it has read.
#[derive(Clone)]
pub enum Behaviour {
    Answer {
        status: u16,
        headers: Vec<(String, String)>,
        body: String,
    },
    /// Waits until the behaviour is changed, then follows the new one.
    Hang,
    /// Closes the connection without an answer.
    Silent,
    /// Announces a body longer than the one sent, and closes the connection.
    Half(u16),
    /// Answers 200 after this many milliseconds.
    Slow(u64),
    /// Redirects the caller to another URL with 302.
    Redirect(String),
    /// Chooses the behaviour by the request.
    Decide(Arc<dyn Fn(&Received) -> Behaviour + Send + Sync>),
}

impl Behaviour {
    pub fn status(status: u16) -> Self {
        Self::answer(status, &[], "")
    }

    pub fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self::Answer { status, headers: headers.iter().map(owned).collect(), body: body.to_owned() }
    }

    /// Follows one behaviour for the first request, and another from then on.
    pub fn once(first: Self, then: Self) -> Self {
        let is_first = AtomicBool::new(true);
        Self::decide(move |_| match is_first.swap(false, Ordering::Relaxed) {
            true => first.clone(),
            false => then.clone(),
        })
    }

    pub fn decide(decide: impl Fn(&Received) -> Self + Send + Sync + 'static) -> Self {
        Self::Decide(Arc::new(decide))
    }
}

struct State {
    behaviour: Behaviour,
    /// Counts changes of the behaviour, so that `Hang` can wait for the next.
    changes: u64,
    received: Vec<Received>,
    /// Whether requests are recorded in `received`.
    is_recording: bool,
    /// Requests in flight, now and at most.
    in_flight: usize,
    most_in_flight: usize,
    /// Open connections, which are closed when the receiver ends.
    connections: BTreeMap<u64, TcpStream>,
    threads: Vec<JoinHandle<()>>,
    ended: bool,
}

struct Shared {
    state: Mutex<State>,
    /// Notified of every request, of every change of the behaviour and of the end.
    changed: Condvar,
}

impl Shared {
    /// Ignores poisoning, so that a test that panics with the lock still ends the receiver.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>, ms: u64) -> MutexGuard<'a, State> {
        let waited = self.changed.wait_timeout(state, Duration::from_millis(ms));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

pub struct Receiver {
    pub port: u16,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

impl Receiver {
    /// Starts a receiver that answers 200.
    pub fn start() -> Self {
        Self::start_on(0)
    }

    /// Starts a receiver on the port of one that ended.
    pub fn start_on(port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                behaviour: Behaviour::status(200),
                changes: 0,
                received: Vec::new(),
                is_recording: true,
                in_flight: 0,
                most_in_flight: 0,
                connections: BTreeMap::new(),
                threads: Vec::new(),
                ended: false,
            }),
            changed: Condvar::new(),
        });
        let accepting = thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        });
        Self { port, shared, accepting: Some(accepting) }
    }

    pub fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Stops recording requests, for tests with more requests than fit into memory. The behaviour can still count them.
    #[allow(dead_code, reason = "the benches use it")]
    pub fn clear(&self) {
        self.shared.lock().is_recording = false;
    }

    /// Sets the behaviour from now on.
    pub fn set(&self, behaviour: Behaviour) {
        let mut state = self.shared.lock();
        state.behaviour = behaviour;
        state.changes += 1;
        drop(state);
        self.shared.changed.notify_all();
    }

    pub fn received(&self) -> Vec<Received> {
        self.shared.lock().received.clone()
    }

    pub fn count(&self) -> usize {
        self.shared.lock().received.len()
    }

    /// The most requests that were in flight at the same time.
    pub fn peak_concurrency(&self) -> usize {
        self.shared.lock().most_in_flight
    }

    /// Waits for this many requests, and returns all that came.
    #[track_caller]
    pub fn wait(&self, requests: usize) -> Vec<Received> {
        let found = self.wait_until(PATIENCE_MS, |received| received.len() >= requests);
        assert!(found, "{requests} requests awaited: {:#?}", self.received());
        self.received()
    }

    /// Waits for callbacks of this many transactions. Returns how often each was received.
    #[track_caller]
    pub fn wait_for_transactions(&self, patience_ms: i64, transactions: usize) -> BTreeMap<String, usize> {
        let found = self.wait_until(patience_ms, |received| {
            received.len() >= transactions && count(received).len() >= transactions
        });
        let known = self.transactions();
        assert!(found, "{transactions} transactions awaited, {} came", known.len());
        known
    }

    /// How often each transaction was received.
    pub fn transactions(&self) -> BTreeMap<String, usize> {
        count(&self.shared.lock().received)
    }

    /// Waits until the received requests satisfy a condition. Returns false after `patience_ms` milliseconds.
    pub fn wait_until(&self, patience_ms: i64, condition: impl Fn(&[Received]) -> bool) -> bool {
        let until_ms = now_ms() + patience_ms;
        let mut state = self.shared.lock();
        loop {
            if condition(&state.received) {
                return true;
            }
            if now_ms() >= until_ms {
                return false;
            }
            state = self.shared.wait(state, 100);
        }
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.ended = true;
        for connection in state.connections.values() {
            let _ = connection.shutdown(Shutdown::Both);
        }
        drop(state);
        self.shared.changed.notify_all();
        // Wakes the accepting thread.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
        let threads = std::mem::take(&mut self.shared.lock().threads);
        for thread in threads {
            let _ = thread.join();
        }
    }
}

fn count(received: &[Received]) -> BTreeMap<String, usize> {
    let mut transactions = BTreeMap::new();
    for request in received {
        *transactions.entry(request.transaction_id().to_owned()).or_default() += 1;
    }
    transactions
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for (number, stream) in (0..).zip(listener.incoming()) {
        let mut state = shared.lock();
        if state.ended {
            return;
        }
        let Ok(stream) = stream else { continue };
        let Ok(copy) = stream.try_clone() else { continue };
        state.connections.insert(number, copy);
        let serving = Arc::clone(shared);
        let thread = thread::spawn(move || {
            // A caller may break the connection; that is not an error here.
            let _ = serve(&stream, &serving);
            let _ = stream.shutdown(Shutdown::Both);
            serving.lock().connections.remove(&number);
        });
        state.threads.retain(|thread| !thread.is_finished());
        state.threads.push(thread);
    }
}

/// Answers the requests of a connection, one after the other.
fn serve(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    while let Some(request) = request::read(&mut reader)? {
        let mut state = shared.lock();
        if state.is_recording {
            state.received.push(request.clone());
        }
        state.in_flight += 1;
        state.most_in_flight = state.most_in_flight.max(state.in_flight);
        // The behaviour at receipt applies, even if the test changes it once it sees the request.
        let behaviour = state.behaviour.clone();
        drop(state);
        shared.changed.notify_all();
        let reply = reply_to(&request, behaviour, shared);
        shared.lock().in_flight -= 1;
        let Some(reply) = reply else {
            return Ok(());
        };
        (&mut &*stream).write_all(reply.text.as_bytes())?;
        if reply.closes {
            return Ok(());
        }
    }
    Ok(())
}

/// An answer as written to a connection.
struct Reply {
    text: String,
    closes: bool,
}

/// Waits as the behaviour says and returns the answer, or `None` for no answer.
fn reply_to(request: &Received, mut behaviour: Behaviour, shared: &Shared) -> Option<Reply> {
    let mut state = shared.lock();
    loop {
        behaviour = match behaviour {
            Behaviour::Answer { status, headers, body } => {
                return Some(Reply { text: answer(status, &headers, &body), closes: false });
            }
            Behaviour::Half(status) => {
                return Some(Reply {
                    text: format!("HTTP/1.1 {status} Test\r\nContent-Length: 1000\r\n\r\nhalf"),
                    closes: true,
                });
            }
            Behaviour::Silent => return None,
            Behaviour::Redirect(url) => Behaviour::answer(302, &[("Location", &url)], ""),
            Behaviour::Decide(decide) => {
                drop(state);
                let decided = decide(request);
                state = shared.lock();
                decided
            }
            Behaviour::Slow(ms) => {
                let until_ms = now_ms() + i64::try_from(ms).expect("milliseconds");
                while !state.ended && now_ms() < until_ms {
                    let left_ms = until_ms - now_ms();
                    state = shared.wait(state, u64::try_from(left_ms).unwrap_or(0));
                }
                Behaviour::status(200)
            }
            Behaviour::Hang => {
                let changes = state.changes;
                while !state.ended && state.changes == changes {
                    state = shared.wait(state, 60_000);
                }
                state.behaviour.clone()
            }
        };
        if state.ended {
            return None;
        }
    }
}

fn answer(status: u16, headers: &[(String, String)], body: &str) -> String {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    // A 204 has no body and no length.
    if status == 204 {
        return format!("HTTP/1.1 204 Test\r\n{headers}\r\n");
    }
    let length = body.len();
    format!("HTTP/1.1 {status} Test\r\n{headers}Content-Length: {length}\r\n\r\n{body}")
}
