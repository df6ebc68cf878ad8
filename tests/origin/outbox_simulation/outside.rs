//! What outlives a process of the outbox, and what the world sees of one: the calls that it makes and the events of its
//! steps.

use std::{
    cell::{Cell, RefCell},
    future::poll_fn,
    pin::Pin,
    rc::Rc,
    task::Poll,
};

use signpost::{
    callbacks::{delivery::Judgement, fields::Fields},
    origin::{
        catalog::terms::{CallbackSettings, Terms},
        command::Failure,
        counters::Take,
        forward::Batch,
        outbox::{Answer, Conversion, deliveries::Try},
    },
};

use crate::sqlite::Sqlite;

pub type Task = Pin<Box<dyn Future<Output = ()>>>;

/// What outlives a process: what is stored, and the world around.
pub struct Outside {
    pub db: Sqlite,
    pub now_ms: Cell<i64>,
    pub alarm_ms: Cell<Option<i64>>,
    pub calls: RefCell<Vec<Rc<Call>>>,
    pub spawned: RefCell<Vec<Task>>,
    /// What happened in the present step.
    pub journal: RefCell<Vec<Event>>,
    pub draws: Cell<u64>,
}

pub struct Call {
    pub asked: Asked,
    pub began_ms: i64,
    /// What the other side has answered, which may still be lost.
    pub arrived: RefCell<Option<Answered>>,
    pub answer: RefCell<Option<Answered>>,
}

#[derive(Clone, Debug)]
pub enum Asked {
    Terms,
    Take(Take),
    Tell(Batch),
    Send { revision: i64, fields: Box<Fields> },
}

#[derive(Clone, Debug)]
pub enum Answered {
    Terms(Rc<Terms>),
    Taken(bool),
    Applied,
    Http(Http),
    /// No answer, for whatever reason.
    Nothing,
}

/// A whole answer of a receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Http {
    pub status: u16,
    pub retry_after: Option<String>,
    pub webhook_delivery: Option<&'static str>,
    pub body: String,
}

#[derive(Debug)]
pub enum Event {
    Answered {
        conversion: Box<Conversion>,
        answer: Result<Answer, Failure>,
    },
    Operated {
        operation: Operation,
        written: bool,
    },
    Claimed {
        tried: Try,
        revision: i64,
    },
    Concluded {
        tried: Try,
        revision: i64,
        judgement: Judgement,
        http_status: Option<u16>,
        written: bool,
    },
    /// An alarm's work broke, and what it leaves waits for the next.
    Broke,
}

#[derive(Clone, Debug)]
pub enum Operation {
    Settings(CallbackSettings),
    Replay(String),
    ReplayMany(String),
    Enable,
    Erase(String),
}

impl Outside {
    pub async fn call(&self, asked: Asked) -> Answered {
        let call = Rc::new(Call {
            asked,
            began_ms: self.now_ms.get(),
            arrived: RefCell::default(),
            answer: RefCell::default(),
        });
        self.calls.borrow_mut().push(Rc::clone(&call));
        poll_fn(|_| call.answer.take().map_or(Poll::Pending, Poll::Ready)).await
    }

    pub fn tell(&self, event: Event) {
        self.journal.borrow_mut().push(event);
    }
}
