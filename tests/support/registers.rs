//! The registers of objects and the operator's attention: real activity objects, each with its own database.

#![allow(dead_code, reason = "no test binary uses all of it")]

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
};

use contract::{
    activity::Command,
    attention::{self, ListAttention},
    operation::{CallError, ObjectAddress, Operation, Unanswered},
    register::{AddEntries, Announce, RegisterEntry, address},
};
use origin::objects::activity::{MIGRATIONS, handle, sweep};
use platform::migrations::migrate;
use serde_json::Value as Json;

use crate::sqlite::Sqlite;

#[derive(Default)]
pub struct Registers {
    objects: RefCell<BTreeMap<String, Sqlite>>,
    /// Whether none of them answers.
    pub are_down: Cell<bool>,
    pub calls: Cell<usize>,
}

impl Registers {
    /// Answers a call to one of them.
    pub fn answer<O: Operation>(&self, now_ms: i64, to: &ObjectAddress, operation: O) -> Result<O::Answer, CallError> {
        assert_eq!(to.binding, attention::BINDING);
        if self.are_down.get() {
            return Err(Unanswered::default().into());
        }
        self.calls.set(self.calls.get() + 1);
        let command = serde_json::to_string(&operation.into()).unwrap();
        let reply = self.send(&to.name, now_ms, serde_json::from_str(&command).unwrap());
        Ok(serde_json::from_str(&reply).unwrap())
    }

    fn send(&self, name: &str, now_ms: i64, command: Command) -> String {
        let mut objects = self.objects.borrow_mut();
        let db = objects.entry(name.to_owned()).or_insert_with(|| {
            let db = Sqlite::in_memory();
            migrate(&db, 0, MIGRATIONS).unwrap();
            db
        });
        serde_json::to_string(&handle(db, now_ms, command).unwrap()).unwrap()
    }

    /// An entry that the object has lost.
    pub fn add(&self, source: &str, entry: RegisterEntry) {
        let add = AddEntries { after: 0, entries: vec![entry] };
        self.send(&address(source).name, 0, add.into());
    }

    /// Announces that an object is put back.
    pub fn announce(&self, source: &str, at_ms: i64) {
        self.send(&address(source).name, at_ms, Announce { at_ms }.into());
    }

    /// Runs an object's alarm. Returns when it is due next.
    pub fn alarm(&self, name: &str, now_ms: i64) -> Option<i64> {
        sweep::sweep(&self.objects.borrow()[name], now_ms).unwrap()
    }

    /// Loses an object, which is empty when it is used next.
    pub fn lose(&self, name: &str) {
        self.objects.borrow_mut().remove(name).unwrap();
    }

    /// The doubts that are listed for the operator: subject and reason. Nothing else may be listed.
    pub fn doubts(&self) -> Vec<(String, String)> {
        let items = self.items().into_iter();
        items.inspect(|[kind, ..]| assert_eq!(kind, "restored")).map(|[_, subject, reason]| (subject, reason)).collect()
    }

    /// All that is listed for the operator: kind, subject and reason.
    pub fn items(&self) -> Vec<[String; 3]> {
        let list = ListAttention { kind: None, app: None, limit: 1_000, after: None };
        let reply: Json = serde_json::from_str(&self.send(attention::OBJECT_NAME, 0, list.into())).unwrap();
        let page: Json = serde_json::from_str(reply["body"].as_str().unwrap()).unwrap();
        let items = page["items"].as_array().unwrap().iter();
        let text = |item: &Json, name: &str| item[name].as_str().unwrap().to_owned();
        items.map(|item| ["kind", "subject", "reason"].map(|name| text(item, name))).collect()
    }
}
