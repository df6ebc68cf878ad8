//! Processes: tasks are polled step by step, and a process dies between two steps or within one.

use std::{
    rc::Rc,
    task::{Context, Waker},
};

use super::world::{Work, World};
use crate::mock_platform::CallAnswer;

impl World {
    /// Polls until every task waits.
    pub fn run(&mut self) {
        loop {
            let mut moved = false;
            for nth in 0..self.actors.len() {
                moved |= self.run_actor(nth);
            }
            self.answered.retain(|(_, call)| {
                let arrived = call.arrived.take();
                moved |= arrived.is_some();
                let waits = arrived.is_none();
                if let Some(answer) = arrived {
                    call.answer(answer);
                }
                waits
            });
            if !moved {
                return;
            }
        }
    }

    fn run_actor(&mut self, nth: usize) -> bool {
        let (mut moved, mut task) = (false, 0);
        while task < self.actors[nth].tasks.len() {
            match self.step(nth, task) {
                Stepped::Waits => task += 1,
                Stepped::Moved => {
                    moved = true;
                    task += 1;
                }
                Stepped::Ended => {
                    moved = true;
                    drop(self.actors[nth].tasks.remove(task));
                }
                Stepped::Died => return true,
            }
            let actor = &mut self.actors[nth];
            let spawned = actor.env.spawned.take();
            let work = spawned.into_iter().map(|task| Work { task, call: None });
            actor.tasks.extend(work);
        }
        moved
    }

    fn step(&mut self, nth: usize, task: usize) -> Stepped {
        let env = Rc::clone(&self.actors[nth].env);
        let state = || {
            let calls = env.calls.borrow().len();
            (env.db.writes(), calls, env.spawned.borrow().len())
        };
        let before = state();
        let (alarm_ms, running_ms) = (env.alarm_ms.get(), env.running_ms.get());
        env.db.begin_step();
        let work = &mut self.actors[nth].tasks[task];
        let ended = work.task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
        let call = work.call.clone();
        let moved = ended || before != state();
        if moved
            && let Some((dying, steps, committed)) = self.death
            && dying == nth
        {
            self.death = (steps > 1).then_some((nth, steps - 1, committed));
            if self.death.is_none() {
                env.db.end_step(!committed);
                if !committed {
                    env.alarm_ms.set(alarm_ms);
                    env.running_ms.set(running_ms);
                    env.calls.borrow_mut().truncate(before.1);
                    call.and_then(|call| call.arrived.take());
                }
                self.die(nth);
                return Stepped::Died;
            }
        }
        env.db.end_step(false);
        match (ended, moved) {
            (true, _) => Stepped::Ended,
            (false, true) => Stepped::Moved,
            (false, false) => Stepped::Waits,
        }
    }

    /// Ends a process. Its open calls may still take effect, and calls to it have no answer.
    pub fn die(&mut self, nth: usize) {
        for call in self.actors[nth].env.calls.take() {
            if call.arrived.borrow().is_none() && self.coin() {
                self.deliver(&call.request, None);
            }
        }
        let actor = &mut self.actors[nth];
        actor.tasks.clear();
        actor.env.spawned.take();
        let fired_ms = actor.env.running_ms.take();
        actor.env.alarm_ms.set(actor.env.alarm_ms.get().or(fired_ms));
        actor.is_waking = Rc::default();
        let (kind, process) = actor.object.as_mut().unwrap();
        *process = kind.start(&actor.env);
        self.answered.retain(|(to, call)| {
            let is_lost = *to == nth && call.arrived.borrow().is_none();
            if is_lost {
                call.answer(CallAnswer::Nothing);
            }
            !is_lost
        });
    }
}

enum Stepped {
    Waits,
    Moved,
    Ended,
    Died,
}
