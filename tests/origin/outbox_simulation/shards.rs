//! The outboxes of one app, each a service of its own: they share no call, no lock and no row. However their steps
//! interleave, and although one of them gets no answer, each writes what it writes alone.

use std::{
    cell::Cell,
    rc::Rc,
    task::{Context, Waker},
};

use proptest::{collection::vec, prelude::*};

use super::{
    catalog::{OFFERS, first_catalog},
    runtime::{self, CallAnswer, CallRequest, Environment, Service, Task},
    world::app,
};
use crate::{dump, test_catalog::TestCatalog};
use contract::{
    operation::Bytes,
    outbox::{Command, Conversion, Shard},
};
use domain::{
    conversions::state::Status,
    model::{AdvertiserId, time::MINUTE_MS},
    tracking::click::Click,
};
use platform::http_call::HttpAnswer;

const OUTBOXES: u8 = 8;
const CONVERSIONS: u8 = 20;
/// Steps in which all conversions of an outbox are sent and answered, and their callbacks delivered.
const STEPS: usize = 200;

struct Outbox {
    shard: Shard,
    env: Rc<Environment>,
    service: Rc<Service>,
    tasks: Vec<Task>,
    sent: u8,
    paid: Rc<Cell<u8>>,
    /// The bindings of the objects that it called.
    called: Vec<&'static str>,
}

impl Outbox {
    fn new(number: u8) -> Self {
        let env = Rc::new(Environment::new(u64::from(number)));
        Self {
            shard: Shard { app: app(), number },
            service: runtime::start(&env, true),
            env,
            tasks: vec![],
            sent: 0,
            paid: Rc::default(),
            called: vec![],
        }
    }

    /// Sends the next conversion.
    fn send(&mut self, catalog: &TestCatalog) {
        self.sent += 1;
        let command = Command::Convert(Box::new(self.conversion(catalog)));
        let (service, shard, paid) = (Rc::clone(&self.service), self.shard, Rc::clone(&self.paid));
        self.tasks.push(Box::pin(async move {
            service.command(shard, command).await.unwrap();
            paid.set(paid.get() + 1);
        }));
    }

    /// Sends the next conversion, goes on with the earlier ones, and answers the oldest call.
    fn step(&mut self, catalog: &mut TestCatalog, answers: bool) {
        if self.sent < CONVERSIONS {
            self.send(catalog);
        }
        let mut context = Context::from_waker(Waker::noop());
        self.tasks
            .retain_mut(|task| task.as_mut().poll(&mut context).is_pending());
        self.tasks.extend(self.env.spawned.take());
        if answers && !self.env.calls.borrow().is_empty() {
            let call = self.env.calls.borrow_mut().remove(0);
            call.answer(match &call.request {
                CallRequest::Http(_) => CallAnswer::Http(HttpAnswer {
                    status: 200,
                    retry_after: None,
                    webhook_delivery: None,
                    body: "ok".into(),
                }),
                CallRequest::Object(to, json) => {
                    self.called.push(to.binding);
                    CallAnswer::Object(catalog.answer(json))
                }
            });
        }
    }

    fn conversion(&self, catalog: &TestCatalog) -> Conversion {
        let offer = OFFERS[1];
        Conversion {
            nonce: Bytes([[self.shard.number; 6], [self.sent; 6]].concat()),
            click: Click {
                offer: offer.into(),
                goal: "g1".into(),
                app: app(),
                shard: self.shard.number,
                offer_terms: catalog.revision,
                app_terms: catalog.revision,
                user_id: format!("user {} {}", self.shard.number, self.sent).into(),
                gaid: None,
                idfa: None,
                custom: [const { None }; 5],
                placement: None,
                country: None,
                clicked_at_ms: self.env.now_ms.get() - MINUTE_MS,
            },
            advertiser: AdvertiserId::parse("adv").unwrap(),
            goal: None,
            txn: None,
            status: Status::Approved,
            current: catalog.current(offer),
        }
    }

    fn rows(&self) -> String {
        let tables = [
            "entries",
            "conversions",
            "attempts",
            "traffic",
            "offers",
            "terms",
            "outbox",
        ];
        tables
            .map(|table| format!("{:?}", dump(&self.env.db, table)))
            .concat()
    }
}

/// They are decided in one turn, whose writes the runtime commits together.
#[test]
fn conversions_that_arrive_together_wait_for_one_commit() {
    let mut catalog = first_catalog();
    let mut outbox = Outbox::new(0);
    for _ in 0..STEPS {
        outbox.step(&mut catalog, true);
    }
    let (paid, syncs) = (outbox.paid.get(), outbox.env.syncs.get());
    for _ in 0..64 {
        outbox.send(&catalog);
    }
    for _ in 0..STEPS {
        outbox.step(&mut catalog, true);
    }
    assert_eq!(
        (outbox.paid.get() - paid, outbox.env.syncs.get() - syncs),
        (64, 1)
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn outboxes_of_an_app_share_nothing(order in vec(0..OUTBOXES, STEPS)) {
        let mut catalog = first_catalog();
        let mut outboxes: Vec<_> = (0..OUTBOXES).map(Outbox::new).collect();
        let mut steps = [0; OUTBOXES as usize];
        // The first gets no answer, so its conversions wait.
        let rest = (0..STEPS).flat_map(|_| 0..OUTBOXES);
        for nth in order.into_iter().chain(rest).map(usize::from) {
            if steps[nth] < STEPS {
                steps[nth] += 1;
                outboxes[nth].step(&mut catalog, nth > 0);
            }
        }
        prop_assert_eq!(outboxes[0].paid.get(), 0);
        for outbox in &outboxes[1..] {
            prop_assert_eq!(outbox.paid.get(), CONVERSIONS);
            // One question for the app's terms, one for the offer's.
            prop_assert_eq!(&outbox.called, &[contract::catalog::BINDING; 2]);
            let mut alone = Outbox::new(outbox.shard.number);
            for _ in 0..STEPS {
                alone.step(&mut first_catalog(), true);
            }
            prop_assert_eq!(outbox.rows(), alone.rows());
        }
    }
}
