//! Calls in flight: they arrive and are answered, or not, and expire when time passes.

use std::rc::Rc;

use super::{
    edge::OUTBOXES,
    objects::answer,
    world::{Actor, EDGE, Work, World},
};
use crate::{
    migrated,
    mock_platform::{Call, CallAnswer, CallRequest},
    outbox_simulation::{ops::Fate, world::app},
};
use contract::{catalog, operation::OperatorReply};
use origin::objects::activity;

impl World {
    /// Advances the clock and lets expired calls fail.
    pub fn pass(&mut self, ms: i64) {
        let until_ms = self.now_ms() + ms.max(0);
        loop {
            let waiting = self.answered.iter().enumerate().map(|(nth, (_, call))| (call.until_ms, None, nth));
            let open = self.actors.iter().enumerate().flat_map(|(actor, of)| {
                let calls = of.env.calls.borrow();
                let ends: Vec<_> = calls.iter().map(|call| call.until_ms).collect();
                ends.into_iter().enumerate().map(move |(nth, end_ms)| (end_ms, Some(actor), nth))
            });
            let first = waiting.chain(open).min();
            let Some((end_ms, actor, nth)) = first.filter(|first| first.0 <= until_ms) else {
                break;
            };
            self.clock.set(end_ms.max(self.now_ms()));
            match actor {
                Some(actor) => {
                    let fate = if self.coin() { Fate::Lost } else { Fate::Fails };
                    self.resolve(actor, nth, fate, false);
                }
                None => self.answered.remove(nth).1.answer(CallAnswer::Nothing),
            }
            self.run();
        }
        self.clock.set(until_ms);
    }

    pub fn resolve_all(&mut self) {
        for _ in 0..10_000 {
            self.run();
            let open = self.actors.iter().position(|actor| !actor.env.calls.borrow().is_empty());
            match open {
                Some(actor) => self.resolve(actor, 0, Fate::Succeeds, false),
                None if self.actors.iter().all(|actor| actor.tasks.is_empty()) => return,
                None => {}
            }
        }
        panic!("something never ends");
    }

    pub fn resolve(&mut self, actor: usize, nth: usize, fate: Fate, again: bool) {
        let call = Rc::clone(&self.actors[actor].env.calls.borrow()[nth]);
        if again || fate == Fate::ArrivesLate {
            self.stragglers.push((self.now_ms(), call.request.clone()));
        }
        let has_arrived = call.arrived.borrow().is_some();
        if fate == Fate::Arrives {
            if !has_arrived {
                self.deliver(&call.request, Some(&call));
            }
            return;
        }
        self.actors[actor].env.calls.borrow_mut().remove(nth);
        match fate {
            Fate::Succeeds => {
                let to = if has_arrived { EDGE } else { self.deliver(&call.request, Some(&call)) };
                self.answered.push((to, call));
                return;
            }
            Fate::Lost if !has_arrived => drop(self.deliver(&call.request, None)),
            _ => {}
        }
        call.answer(CallAnswer::Nothing);
    }

    /// A call arrives. Returns the object that answers it later; `EDGE` if it is answered.
    pub fn deliver(&mut self, request: &CallRequest, call: Option<&Rc<Call>>) -> usize {
        let arrived = match request {
            CallRequest::Http(request) => {
                let answer = self.receivers.receive(request, self.behaviour);
                answer.map_or(CallAnswer::Nothing, CallAnswer::Http)
            }
            CallRequest::Object(to, json) => match to.binding {
                catalog::BINDING => CallAnswer::Object(self.ask_catalog(json)),
                contract::activity::BINDING => self.ask_activity(&to.name, json),
                _ => {
                    let nth = self.place(&to.name);
                    if !self.unreachable.contains(&nth) {
                        self.begin(nth, to.path.clone(), json.clone(), call);
                        return nth;
                    }
                    CallAnswer::Nothing
                }
            },
        };
        if let Some(call) = call {
            call.arrived.replace(Some(arrived));
        }
        EDGE
    }

    fn place(&self, name: &str) -> usize {
        let is_named = |actor: &Actor| {
            let kind = actor.object.as_ref().map(|(kind, _)| kind);
            kind.is_some_and(|kind| kind.name() == name)
        };
        let place = self.actors.iter().position(is_named);
        place.unwrap_or_else(|| panic!("a call to {name}"))
    }

    /// An object begins with a command.
    fn begin(&mut self, nth: usize, path: String, json: String, call: Option<&Rc<Call>>) {
        let actor = &mut self.actors[nth];
        let (_, process) = actor.object.clone().unwrap();
        let answers = call.cloned();
        let task = Box::pin(async move {
            let answer = process.command(path, json).await;
            if let Some(call) = answers {
                call.arrived.replace(Some(answer));
            }
        });
        let call = call.cloned();
        actor.tasks.push(Work { task, call });
    }

    /// The publisher's activity or the operator's attention.
    fn ask_activity(&mut self, name: &str, json: &str) -> CallAnswer {
        let db = self.activities.entry(name.to_owned());
        let db = db.or_insert_with(|| migrated(activity::MIGRATIONS));
        let command = serde_json::from_str(json).unwrap();
        answer(activity::handle(db, self.clock.get(), command))
    }

    fn ask_catalog(&mut self, json: &str) -> String {
        match serde_json::from_str(json).unwrap() {
            catalog::Command::AppNames(_) => {
                let names = serde_json::json!({ app().to_string(): "Game" });
                serde_json::to_string(&OperatorReply::ok(&names)).unwrap()
            }
            catalog::Command::OfferOutboxes(_) => {
                let outboxes = OUTBOXES.map(|number| (app().to_string(), number));
                serde_json::to_string(&OperatorReply::ok(&serde_json::json!(outboxes))).unwrap()
            }
            _ => self.catalog.answer(json),
        }
    }
}
