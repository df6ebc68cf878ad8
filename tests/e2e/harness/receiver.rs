//! A publisher's server: a real one on a port of loopback, which keeps what it was sent and answers as the test wants, or
//! does not. It ends with the test, with all of its threads.

use std::{
    collections::BTreeMap,
    io::{self, BufReader, Write},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::Duration,
};

use super::now_ms;

mod request;

pub use request::Received;

/// How long a receiver waits for what should come at once, on a busy machine.
const PATIENCE_MS: i64 = 30_000;

/// What a receiver does with a request that it has read.
#[derive(Clone)]
pub enum Behaviour {
    Answer {
        status: u16,
        headers: Vec<(String, String)>,
        body: String,
    },
    /// Says nothing until the behaviour is another, and then behaves so.
    Hang,
    /// Closes the connection without a word.
    Silent,
    /// Announces more than follows, and closes the connection.
    Half(u16),
    /// Answers 200 after so many milliseconds.
    Slow(u64),
    /// Sends the caller to another address.
    Redirect(String),
    /// What is done depends on the request.
    Of(Arc<dyn Fn(&Received) -> Behaviour + Send + Sync>),
}

impl Behaviour {
    pub fn status(status: u16) -> Self {
        Self::answer(status, &[], "")
    }

    pub fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self::Answer {
            status,
            headers: headers.iter().map(owned).collect(),
            body: body.to_owned(),
        }
    }

    pub fn of(decide: impl Fn(&Received) -> Self + Send + Sync + 'static) -> Self {
        Self::Of(Arc::new(decide))
    }
}

struct State {
    behaviour: Behaviour,
    /// Counts the changes of the behaviour, for those who hang until the next.
    changes: u64,
    received: Vec<Received>,
    /// Whether they are kept there.
    keeps: bool,
    /// Requests that are not answered yet, now and at most.
    under_way: usize,
    most_under_way: usize,
    /// Open connections, to be closed when the receiver ends.
    connections: BTreeMap<u64, TcpStream>,
    threads: Vec<JoinHandle<()>>,
    ended: bool,
}

struct Shared {
    state: Mutex<State>,
    /// Told of every request, of every change of the behaviour and of the end.
    changed: Condvar,
}

impl Shared {
    /// A test that fails while it looks at the state still ends the receiver.
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
    /// One that answers 200.
    pub fn start() -> Self {
        Self::start_on(0)
    }

    /// The same on a port where another one ended.
    pub fn start_on(port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                behaviour: Behaviour::status(200),
                changes: 0,
                received: Vec::new(),
                keeps: true,
                under_way: 0,
                most_under_way: 0,
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
        Self {
            port,
            shared,
            accepting: Some(accepting),
        }
    }

    pub fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Keeps no requests from now on: for more of them than fit into memory, of which the behaviour takes note.
    #[allow(dead_code, reason = "the benches use it")]
    pub fn forget(&self) {
        self.shared.lock().keeps = false;
    }

    /// From now on.
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

    /// How many requests were waiting for their answer at the same time, at most.
    pub fn most_at_once(&self) -> usize {
        self.shared.lock().most_under_way
    }

    /// Waits until so many requests are there, and gives them all.
    #[track_caller]
    pub fn wait(&self, requests: usize) -> Vec<Received> {
        let found = self.wait_until(PATIENCE_MS, |received| received.len() >= requests);
        assert!(found, "{requests} requests awaited: {:#?}", self.received());
        self.received()
    }

    /// The same of different transactions, with how often each was received.
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

    /// Waits until what was received is so, and says whether it came to that.
    pub fn wait_until(&self, patience_ms: i64, is_so: impl Fn(&[Received]) -> bool) -> bool {
        let until_ms = now_ms() + patience_ms;
        let mut state = self.shared.lock();
        loop {
            if is_so(&state.received) {
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
        // Wakes the thread that waits for connections.
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
        *transactions
            .entry(request.transaction_id().to_owned())
            .or_default() += 1;
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
        let Ok(kept) = stream.try_clone() else { continue };
        state.connections.insert(number, kept);
        let serving = Arc::clone(shared);
        let thread = thread::spawn(move || {
            // What a caller breaks off is the caller's affair.
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
        if state.keeps {
            state.received.push(request.clone());
        }
        state.under_way += 1;
        state.most_under_way = state.most_under_way.max(state.under_way);
        // What it was received by is what it is answered by, whatever a test sets once it sees it.
        let behaviour = state.behaviour.clone();
        drop(state);
        shared.changed.notify_all();
        let reply = reply_to(&request, behaviour, shared);
        shared.lock().under_way -= 1;
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

/// What is written on a connection.
struct Reply {
    text: String,
    closes: bool,
}

/// What is answered, when the time has come for it; `None` if there is to be no answer.
fn reply_to(request: &Received, mut behaviour: Behaviour, shared: &Shared) -> Option<Reply> {
    let mut state = shared.lock();
    loop {
        behaviour = match behaviour {
            Behaviour::Answer {
                status,
                headers,
                body,
            } => {
                return Some(Reply {
                    text: answer(status, &headers, &body),
                    closes: false,
                });
            }
            Behaviour::Half(status) => {
                return Some(Reply {
                    text: format!("HTTP/1.1 {status} Told\r\nContent-Length: 1000\r\n\r\nhalf"),
                    closes: true,
                });
            }
            Behaviour::Silent => return None,
            Behaviour::Redirect(url) => Behaviour::answer(302, &[("Location", &url)], ""),
            Behaviour::Of(decide) => {
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
    let headers: String = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    // An answer of 204 has no body and no length.
    if status == 204 {
        return format!("HTTP/1.1 204 Told\r\n{headers}\r\n");
    }
    let length = body.len();
    format!("HTTP/1.1 {status} Told\r\n{headers}Content-Length: {length}\r\n\r\n{body}")
}
