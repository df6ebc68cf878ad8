//! The objects and receivers that the outbox calls: they answer with their own code on their own SQL.

use std::rc::Rc;

use super::{
    runtime::{self, CallAnswer, CallRequest, Environment},
    world::{World, app, shard},
};

use contract::{
    activity, attention, catalog, counters, ledger,
    operation::{Bytes, Mark, ObjectAddress},
    outbox::{ClaimTxn, Command, OutboxShard, Txn},
};
use domain::model::AdvertiserId;
use origin::objects::outbox::conversions::txns;
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
            CallRequest::Http(request) => {
                self.receivers.receive(request, self.behaviour).map_or(CallAnswer::Nothing, CallAnswer::Http)
            }
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
        // Its ledger and its witness are silent.
        let reply = runtime::ask(env, service, shard, command, |_| CallAnswer::Nothing).unwrap();
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
            // It is a step like any other: it may fail, and it starts what is due.
            let service = Rc::clone(&self.service);
            self.spawn(async move { drop(service.command(shard(), ClaimTxn(txn).into()).await) });
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
        let db = if keeper == shard() { &self.env.db } else { &self.others.get(&keeper.object_name())?.0.db };
        let key = params![txn.advertiser.as_str(), txn.goal.as_str(), txn.txn.as_str()];
        let sql = "SELECT nonce FROM txns WHERE advertiser = ? AND goal = ? AND txn = ?";
        let row = db.query_first(sql, key).unwrap()?;
        Some(row.blob(0).unwrap().to_vec())
    }

    fn ask_counters(&mut self, name: &str, json: &str, late: bool) -> String {
        let command: counters::Command = serde_json::from_str(json).unwrap();
        let db = &self.counters[name];
        let reply = crate::ask_counters(db, self.now_ms(), command.clone()).unwrap();
        match (&command, &reply) {
            (counters::Command::Take(take), counters::Reply::Taken(taken)) => {
                self.model.record_take(take, taken.taken, late);
            }
            (counters::Command::AddConversions(batch), counters::Reply::Mark(mark)) => {
                let conversions = batch.sums.iter().map(|sum| sum.conversions).sum();
                let payout = batch.sums.iter().map(|sum| sum.payout_micro_usd).sum();
                self.record_batch(name, (batch.after, batch.number), *mark, (conversions, payout));
            }
            (counters::Command::SetCap(cap), counters::Reply::Done {}) => self.model.set_cap(cap),
            other => panic!("{other:?}"),
        }
        serde_json::to_string(&reply).unwrap()
    }

    fn ask_ledger(&mut self, json: &str) -> String {
        let command: ledger::Command = serde_json::from_str(json).unwrap();
        let context = origin::objects::ledger::Context {
            now_ms: self.now_ms(),
            random: &|| Err("not used here".into()),
            mac: &|| panic!("no key is issued"),
            publisher: &self.catalog.app.publisher_id,
        };
        let reply = origin::objects::ledger::handle(&self.ledger, &context, command.clone()).unwrap();
        match (&command, &reply) {
            (ledger::Command::AddOffers(batch), ledger::Reply::Mark(mark)) => {
                let payout = batch.sums.iter().map(|sum| sum.revenue_micro_usd).sum();
                self.record_batch("ledger", (batch.after, batch.number), *mark, (0, payout));
            }
            (ledger::Command::ReadMark(_), ledger::Reply::Mark(_)) => {}
            (ledger::Command::Vouch(vouch), ledger::Reply::Vouched(vouched)) => {
                let is_compared = vouched.mark == vouch.number;
                assert!(!is_compared || !vouched.differs(), "{vouch:?} {vouched:?}");
            }
            other => panic!("{other:?}"),
        }
        serde_json::to_string(&reply).unwrap()
    }

    /// A batch was applied just now if it begins at the last one's end.
    fn record_batch(&mut self, destination: &str, (after, number): (i64, i64), mark: Mark, sums: (i64, i64)) {
        let last = self.model.applied_batches.get(destination).map_or(0, |applied| applied.0);
        if mark.mark > last {
            assert_eq!(mark.mark, number);
            self.model.apply_batch(destination, after, number, sums);
        }
    }
}
