//! The objects and receivers that the outbox calls: they answer with their own code on their own SQL.

use std::rc::Rc;

use super::{
    runtime::{self, CallAnswer, CallRequest, Environment},
    world::{World, app, shard},
};
use futures_util::FutureExt;

use contract::{
    activity, attention, catalog, counters,
    ledger::{self, AddOffers},
    operation::{Applied, Bytes, ObjectAddress},
    outbox::{ClaimTxn, Command, OutboxShard, Txn},
};
use domain::model::AdvertiserId;
use origin::{
    delivery::batches::{self, Batch},
    objects::outbox::conversions::txns,
};
use platform::{database::Database, params};

impl World {
    /// Delivers a call to its peer. With `late` its sender no longer waits for it.
    pub fn arrive(&mut self, request: &CallRequest, late: bool) -> CallAnswer {
        match request {
            CallRequest::Object(to, json) => CallAnswer::Object(match to.binding {
                catalog::BINDING => self.catalog.answer(json),
                counters::BINDING => self.ask_counters(&to.name, json, late),
                ledger::BINDING => self.ask_ledger(json),
                activity::BINDING if to.name == attention::OBJECT_NAME => self.ask_attention(json),
                activity::BINDING => self.ask_activity(to, json),
                contract::outbox::BINDING => self.ask_outbox(to, json),
                other => panic!("a call to {other}"),
            }),
            CallRequest::Http(request) => self
                .receivers
                .receive(request, self.behaviour)
                .map_or(CallAnswer::Nothing, CallAnswer::Http),
        }
    }

    /// Another outbox answers at once.
    fn ask_outbox(&mut self, to: &ObjectAddress, json: &str) -> String {
        let (env, service) = self.others.entry(to.name.clone()).or_insert_with(|| {
            let env = Rc::new(Environment::new(0));
            let service = runtime::start(&env, true);
            (env, service)
        });
        env.now_ms.set(self.env.now_ms.get());
        let command = serde_json::from_str(json).unwrap();
        let shard = OutboxShard::parse_path(&to.path).unwrap();
        let reply = service.command(shard, command).now_or_never().unwrap();
        serde_json::to_string(&reply.unwrap()).unwrap()
    }

    /// A click of another outbox claims a txn, like a conversion there.
    pub fn claim_elsewhere(&mut self, txn: u8, goal: &str) {
        let txn = Txn {
            advertiser: AdvertiserId::parse("adv").unwrap(),
            goal: goal.to_owned(),
            txn: format!("txn {txn}"),
            nonce: Bytes(vec![200; 12]),
            number: self.now_ms(),
        };
        let claim = serde_json::to_string(&Command::from(ClaimTxn(txn.clone()))).unwrap();
        let keeper = self.keeper(&txn);
        if keeper == shard() {
            let command = ClaimTxn(txn.clone()).into();
            // It may fail like any write.
            let _ = self.service.command(shard(), command).now_or_never().unwrap();
        } else {
            self.ask_outbox(&keeper.address(), &claim);
        }
    }

    pub fn keeper(&self, txn: &Txn) -> OutboxShard {
        txns::keeper(app(), self.catalog.app.outbox_shards, txn)
    }

    /// The click that has claimed a txn.
    pub fn holder(&self, txn: &Txn) -> Option<Vec<u8>> {
        let keeper = self.keeper(txn);
        let db = if keeper == shard() {
            &self.env.db
        } else {
            &self.others.get(&keeper.object_name())?.0.db
        };
        let key = params![txn.advertiser.as_str(), txn.goal.as_str(), txn.txn.as_str()];
        let sql = "SELECT nonce FROM txns WHERE advertiser = ? AND goal = ? AND txn = ?";
        let row = db.query_first(sql, key).unwrap()?;
        Some(row.blob(0).unwrap().to_vec())
    }

    fn ask_counters(&mut self, name: &str, json: &str, late: bool) -> String {
        let command: counters::Command = serde_json::from_str(json).unwrap();
        let db = &self.counters[name];
        let reply = origin::objects::counters::handle(db, self.now_ms(), command.clone()).unwrap();
        match (&command, &reply) {
            (counters::Command::Take(take), counters::Reply::Taken(taken)) => {
                self.model.record_take(take, taken.taken, late);
            }
            (counters::Command::AddConversions(batch), counters::Reply::Applied(applied)) => {
                self.record_batch(name, batch.sequence, *applied);
            }
            (counters::Command::SetCap(cap), counters::Reply::Done {}) => self.model.set_cap(cap),
            other => panic!("{other:?}"),
        }
        serde_json::to_string(&reply).unwrap()
    }

    fn ask_ledger(&mut self, json: &str) -> String {
        let command: ledger::Command = serde_json::from_str(json).unwrap();
        let ledger::Command::AddOffers(AddOffers { sequence, .. }) = command else {
            panic!("{json} to the ledger");
        };
        let context = origin::objects::ledger::Context {
            now_ms: self.now_ms(),
            random: &|| Err("not used here".into()),
            mac: &|| panic!("no key is issued"),
            publisher: &self.catalog.app.publisher_id,
        };
        let reply = origin::objects::ledger::handle(&self.ledger, &context, command).unwrap();
        let ledger::Reply::Applied(applied) = &reply else {
            panic!("{reply:?}");
        };
        self.record_batch("ledger", sequence, *applied);
        serde_json::to_string(&reply).unwrap()
    }

    /// A batch applied just now was not confirmed before, so its sender still stores it.
    fn record_batch(&mut self, destination: &str, sequence: u64, applied: Applied) {
        if applied.applied {
            let outstanding = batches::outstanding(&self.env.db, i64::MAX >> 11).unwrap();
            let is_it = |batch: &&Batch| batch.destination == destination && batch.sequence == sequence;
            self.model.apply_batch(outstanding.iter().find(is_it).unwrap());
        }
    }
}
