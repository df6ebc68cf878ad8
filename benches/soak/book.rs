//! What was acknowledged, so that it can be asked for at the end: conversions and what they pay, callbacks, clicks and
//! facts. A client writes down what it was told, and what it does not know the end of.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::harness::{Behaviour, Received, Receiver};

/// Sums of facts, or of conversions, in whole numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    pub impressions: i64,
    pub clicks: i64,
    pub micros: i64,
}

impl Sums {
    pub fn plus(self, other: Self) -> Self {
        Self {
            impressions: self.impressions + other.impressions,
            clicks: self.clicks + other.clicks,
            micros: self.micros + other.micros,
        }
    }
}

/// Clicks of a publisher's apps that were sent and could have been counted, and those of them that were redirected.
#[derive(Default)]
pub struct Clicks {
    pub sent: AtomicU64,
    pub redirected: AtomicU64,
}

/// A conversion that was answered 200 once, by its transaction id.
#[derive(Clone, Copy, Debug)]
pub struct Paid {
    pub wall: usize,
    pub micros: i64,
}

#[derive(Default)]
pub struct Book {
    pub paid: Mutex<HashMap<String, Paid>>,
    /// The last conversions that were paid, to be repeated: what was sent, and what was told.
    pub recent: Mutex<Vec<(String, String)>>,
    /// By publisher.
    pub clicks: BTreeMap<String, Clicks>,
    /// Answers that contradict what was told before.
    pub contradictions: Mutex<Vec<String>>,
}

/// Conversions that may be repeated.
const RECENT: usize = 4_096;

impl Book {
    /// A conversion of a new click was answered 200.
    pub fn pay(&self, transaction: &str, paid: Paid, sent: &str) {
        self.paid
            .lock()
            .expect("a book")
            .insert(transaction.to_owned(), paid);
        let mut recent = self.recent.lock().expect("a book");
        let told = (sent.to_owned(), transaction.to_owned());
        if recent.len() < RECENT {
            recent.push(told);
        } else {
            let at = transaction
                .bytes()
                .fold(0, |at, byte| at * 31 + usize::from(byte))
                % RECENT;
            recent[at] = told;
        }
    }

    pub fn contradict(&self, what: String) {
        self.contradictions.lock().expect("a book").push(what);
    }

    pub fn clicked(&self, publisher: &str, redirected: bool) {
        let clicks = &self.clicks[publisher];
        clicks.sent.fetch_add(1, Ordering::Relaxed);
        if redirected {
            clicks.redirected.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// By transaction, how often its callback was answered 2xx, and how often it came.
type Told = HashMap<String, (u32, u32)>;

/// A publisher's server that fails now and then, and knows what it has acknowledged.
pub struct Publishers {
    pub receiver: Receiver,
    told: Arc<Mutex<Told>>,
}

impl Publishers {
    pub fn start() -> Self {
        let (receiver, told) = (Receiver::start(), Arc::new(Mutex::new(Told::new())));
        receiver.forget();
        let book = Arc::clone(&told);
        receiver.set(Behaviour::of(move |received| answer(&book, received)));
        Self { receiver, told }
    }

    pub fn told(&self) -> Told {
        self.told.lock().expect("a book").clone()
    }
}

/// One in fifty fails the first time, one in two hundred is dropped, one in a thousand fails thrice: by the last figures of
/// its id, which are random.
fn answer(book: &Mutex<Told>, received: &Received) -> Behaviour {
    let transaction = received.transaction_id().to_owned();
    let tail = transaction.get(transaction.len() - 6..).unwrap_or("0");
    let luck = u32::from_str_radix(tail, 16).unwrap_or(0) % 1_000;
    let mut told = book.lock().expect("a book");
    let (acknowledged, came) = told.entry(transaction).or_default();
    *came += 1;
    match (luck, *came) {
        (0, ..=3) | (1..=20, 1) => Behaviour::status(503),
        (21..=25, 1) => Behaviour::Silent,
        _ => {
            *acknowledged += 1;
            Behaviour::status(200)
        }
    }
}
