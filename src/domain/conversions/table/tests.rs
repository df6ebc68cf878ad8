use proptest::{collection::vec, option::weighted, prelude::*, sample::select};

use super::*;

const EVENTS: [Event; 7] = [
    Event::Postback(Status::Approved),
    Event::Postback(Status::Pending),
    Event::Postback(Status::Rejected),
    Event::Postback(Status::Reversed),
    Event::Action(Action::Approve),
    Event::Action(Action::Reject),
    Event::Action(Action::Reverse),
];

/// The state after a step, and how often money moved: 1 for a payment, -1 for its reversal.
fn take(state: Option<State>, step: Step, objection: Option<Reason>) -> (Option<State>, i64) {
    if let Some(reason) = objection.filter(|reason| step.judges(*reason)) {
        return (step.objected(reason).or(state), 0);
    }
    match step {
        Step::Judge | Step::Confirm | Step::Force => (Some(State::Approved), 1),
        Step::Await => (Some(State::Pending), 0),
        Step::Reject => (Some(State::Rejected), 0),
        Step::Bury => (Some(State::Tombstone), 0),
        Step::TakeBack => (Some(State::Reversed), -1),
        Step::Repeat | Step::Missing | Step::Conflict => (state, 0),
    }
}

/// A conversion without a table: whether it was ever paid, taken back, or ended without a payment, and
/// whether it is known and pending.
#[derive(Default)]
struct Naive {
    known: bool,
    accepted: bool,
    held: bool,
    paid: bool,
    ended: bool,
}

impl Naive {
    /// How often money moves.
    fn apply(&mut self, event: Event, objection: Option<Reason>) -> i64 {
        let is_postback = matches!(event, Event::Postback(_));
        if self.ended || !(self.known || is_postback) {
            return 0;
        }
        self.known = true;
        let stands = |reasons: &[Reason]| objection.is_some_and(|reason| reasons.contains(&reason));
        use Reason::*;
        match event {
            Event::Postback(Status::Rejected | Status::Reversed) => {
                self.ended = true;
                -i64::from(self.paid)
            }
            Event::Action(Action::Reject) => {
                self.ended = !self.paid;
                0
            }
            Event::Action(Action::Reverse) => {
                self.ended = self.paid;
                -i64::from(self.paid)
            }
            _ if self.paid => 0,
            Event::Postback(Status::Pending) => {
                self.accepted |= !stands(&[WindowClosed, DuplicateTxn, AlreadyRewarded]);
                0
            }
            Event::Action(Action::Approve) => {
                self.paid = objection.is_none_or(|reason| reason == WindowClosed);
                i64::from(self.paid)
            }
            Event::Postback(Status::Approved) => {
                if self.held {
                    return 0;
                }
                if stands(&[TooFast, TooManyToday]) {
                    self.held = true;
                    return 0;
                }
                let late = stands(&[WindowClosed]) && !self.accepted;
                self.paid = !late && !stands(&[DuplicateTxn, AlreadyRewarded, Capped]);
                i64::from(self.paid)
            }
        }
    }
}

proptest! {
    #[test]
    fn money_moves_as_a_naive_model_says(
        history in vec(
            (select(EVENTS.as_slice()), weighted(0.4, select(Reason::ALL.as_slice()))),
            0..12,
        ),
    ) {
        let (mut state, mut naive, mut balance) = (None, Naive::default(), 0);
        for (event, objection) in history {
            let (after, moved) = take(state, step(state, event), objection);
            prop_assert_eq!(moved, naive.apply(event, objection), "{:?} {:?} {:?}", state, event, objection);
            balance += moved;
            prop_assert!((0..=1).contains(&balance));
            prop_assert_eq!(balance == 1, after == Some(State::Approved));
            if let Some(State::Rejected | State::Reversed | State::Tombstone) = state {
                prop_assert_eq!(after, state, "a final state changed");
            }
            state = after;
        }
    }
}

#[test]
fn the_operator_is_told_of_what_there_is_not_and_of_what_cannot_be() {
    let told = |state, action| match step(state, Event::Action(action)) {
        Step::Missing => Some(404),
        Step::Conflict => Some(409),
        _ => None,
    };
    let rows = [
        (None, [Some(404), Some(404), Some(404)]),
        (Some(State::Refused(Reason::Capped)), [None, None, Some(409)]),
        (Some(State::Pending), [None, None, Some(409)]),
        (Some(State::Held(Reason::TooFast)), [None, None, Some(409)]),
        (Some(State::Approved), [None, Some(409), None]),
        (Some(State::Rejected), [Some(409), None, Some(409)]),
        (Some(State::Reversed), [Some(409), Some(409), None]),
        (Some(State::Tombstone), [Some(409), Some(409), Some(409)]),
    ];
    for (state, expected) in rows {
        assert_eq!(
            Action::ALL.map(|action| told(state, action)),
            expected,
            "{state:?}"
        );
    }
}
