//! Acknowledged work, to be checked at the end: conversions and their payments, callbacks, clicks and facts. A client
//! records the answers it got and the requests whose outcome it does not know.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::harness::{Behaviour, Received, Receiver};

/// Sums of facts or of conversions, in whole numbers.
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

/// Clicks of a publisher's apps: sent ones that could have been counted, and redirected ones among them.
#[derive(Default)]
pub struct Clicks {
    pub sent: AtomicU64,
    pub redirected: AtomicU64,
}

/// A conversion that was answered 200.
#[derive(Clone, Copy, Debug)]
pub struct Paid {
    pub wall: usize,
    pub micros: i64,
}

#[derive(Default)]
pub struct Book {
    pub paid: Mutex<HashMap<String, Paid>>,
    /// The last paid conversions, for repeats: the request and its transaction id.
    pub recent: Mutex<Vec<(String, String)>>,
    /// Clicks by publisher.
    pub clicks: BTreeMap<String, Clicks>,
    /// Answers that contradict earlier ones.
    pub contradictions: Mutex<Vec<String>>,
}

/// The number of conversions that may be repeated.
const RECENT: usize = 4_096;

impl Book {
    /// Records that a conversion of a new click was answered 200.
    pub fn pay(&self, transaction: &str, paid: Paid, sent: &str) {
        self.paid.lock().expect("a book").insert(transaction.to_owned(), paid);
        let mut recent = self.recent.lock().expect("a book");
        let conversion = (sent.to_owned(), transaction.to_owned());
        if recent.len() < RECENT {
            recent.push(conversion);
        } else {
            let at = transaction.bytes().fold(0, |at, byte| at * 31 + usize::from(byte)) % RECENT;
            recent[at] = conversion;
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

/// By transaction id: the number of 2xx answers to its callback, and the number of calls.
type Deliveries = HashMap<String, (u32, u32)>;

/// A publisher's server that fails now and then and counts its answers.
pub struct Publishers {
    pub receiver: Receiver,
    deliveries: Arc<Mutex<Deliveries>>,
}

impl Publishers {
    pub fn start() -> Self {
        let (receiver, deliveries) = (Receiver::start(), Arc::new(Mutex::new(Deliveries::new())));
        receiver.clear();
        let book = Arc::clone(&deliveries);
        receiver.set(Behaviour::decide(move |received| answer(&book, received)));
        Self { receiver, deliveries }
    }

    pub fn deliveries(&self) -> Deliveries {
        self.deliveries.lock().expect("a book").clone()
    }
}

/// Answers by the last digits of the transaction id, which are random: 1 in 50 fails the first time, 1 in 200 gets no
/// answer the first time, 1 in 1,000 fails three times.
fn answer(book: &Mutex<Deliveries>, received: &Received) -> Behaviour {
    let transaction = received.transaction_id().to_owned();
    let tail = transaction.get(transaction.len() - 6..).unwrap_or("0");
    let luck = u32::from_str_radix(tail, 16).unwrap_or(0) % 1_000;
    let mut deliveries = book.lock().expect("a book");
    let (acknowledged, came) = deliveries.entry(transaction).or_default();
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
