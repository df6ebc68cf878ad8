use proptest::{
    collection::vec,
    prelude::*,
    sample::{select, subsequence},
};

use super::*;

const EVENTS: [Event; 8] = [
    Event::Postback(Status::Approved),
    Event::Postback(Status::Pending),
    Event::Postback(Status::Rejected),
    Event::Postback(Status::Reversed),
    Event::Action(Action::Approve),
    Event::Action(Action::Reject),
    Event::Action(Action::Reverse),
    Event::Release,
];

/// An event of a history: the reasons against the conversion at the time, and those that the operator names.
#[derive(Clone, Debug)]
struct HistoryEvent {
    event: Event,
    stands: Vec<Reason>,
    despite: Vec<Reason>,
}

/// The state after an event, and the money that moved: 1 for a payment, -1 for its reversal.
fn take(state: Option<State>, happening: &HistoryEvent) -> (Option<State>, i64) {
    let step = step(state, happening.event);
    let against = Reason::ALL.into_iter().find(|reason| {
        happening.stands.contains(reason) && step.judges(*reason) && !step.overrides(*reason, state, &happening.despite)
    });
    match (against, step.outcome()) {
        (Some(reason), _) => (step.objected(reason).or(state), 0),
        (None, None) => (state, 0),
        (None, Some((after, movement))) => {
            let moved = match movement {
                Some(Movement::Reward) => 1,
                Some(Movement::Reversal) => -1,
                None => 0,
            };
            assert_eq!(moved == 1, step.pays());
            (Some(after), moved)
        }
    }
}

/// A model of a conversion without a table of states.
#[derive(Default)]
struct Naive {
    known: bool,
    accepted: bool,
    paid: bool,
    ended: bool,
    /// The reason for which the conversion is held or was refused.
    held: Option<Reason>,
    refused: Option<Reason>,
}

impl Naive {
    /// Applies an event and returns the money that moved.
    fn apply(&mut self, happening: &HistoryEvent) -> i64 {
        use Reason::*;
        let stands = |reason: Reason| happening.stands.contains(&reason);
        let first = |reasons: &[Reason]| reasons.iter().copied().find(|reason| stands(*reason));
        let is_postback = matches!(happening.event, Event::Postback(_));
        if self.ended || !(self.known || is_postback) {
            return 0;
        }
        self.known = true;
        match happening.event {
            Event::Postback(Status::Rejected | Status::Reversed) => {
                self.ended = true;
                return -i64::from(self.paid);
            }
            Event::Action(Action::Reject) => {
                self.ended = !self.paid;
                return 0;
            }
            Event::Action(Action::Reverse) => {
                self.ended = self.paid;
                return -i64::from(self.paid);
            }
            Event::Release if !matches!(self.held, Some(AfterRestore | Suspended)) || self.paid => return 0,
            Event::Release => {
                self.held = None;
                match first(&Reason::ALL[1..]) {
                    None => self.paid = true,
                    Some(reason) if reason.holds() => self.held = Some(reason),
                    refused => (self.refused, self.accepted) = (refused, false),
                }
            }
            _ if self.paid => return 0,
            Event::Postback(Status::Pending) => {
                if !self.accepted && self.held.is_none() {
                    self.refused = first(&[WindowClosed, DuplicateTxn, AlreadyRewarded]);
                    self.accepted = self.refused.is_none();
                }
                return 0;
            }
            Event::Action(Action::Approve) => {
                // Only a reason other than the conversion's own counts, and only if the operator does not name it. The
                // cap never counts.
                let others = [DuplicateTxn, AlreadyRewarded, AfterRestore, Suspended, TooFast, TooManyToday];
                self.paid = !others.into_iter().any(|reason| {
                    let own = self.held.or(self.refused) == Some(reason);
                    stands(reason) && !own && !happening.despite.contains(&reason)
                });
            }
            Event::Postback(Status::Approved) if self.held.is_some() => return 0,
            Event::Postback(Status::Approved) if self.accepted => match first(&Reason::ALL[1..]) {
                None => self.paid = true,
                // For any other reason, the conversion stays pending.
                reason => self.held = reason.filter(|reason| reason.holds()),
            },
            Event::Postback(Status::Approved) => match first(&Reason::ALL) {
                None => self.paid = true,
                Some(reason @ (AfterRestore | Suspended | TooFast | TooManyToday)) => {
                    (self.held, self.refused) = (Some(reason), None);
                }
                refused => self.refused = refused,
            },
        }
        i64::from(self.paid)
    }

    /// Compares with a state, where the model can tell.
    fn is(&self, state: Option<State>) -> bool {
        match state {
            None => !self.known,
            Some(State::Approved) => self.paid && !self.ended,
            Some(State::Held(reason)) => !self.ended && !self.paid && self.held == Some(reason),
            Some(State::Refused(reason)) => !self.ended && self.refused == Some(reason),
            Some(State::Pending) => self.accepted && self.held.is_none() && !self.ended,
            Some(State::Rejected | State::Reversed | State::Tombstone) => self.ended,
        }
    }
}

proptest! {
    #[test]
    fn money_moves_as_a_naive_model_says(
        history in vec(
            (
                select(EVENTS.as_slice()),
                subsequence(Reason::ALL.to_vec(), 0..=2),
                subsequence(Reason::ALL.to_vec(), 0..=2),
            ),
            0..12,
        ),
    ) {
        let (mut state, mut naive, mut balance) = (None, Naive::default(), 0);
        for (event, stands, despite) in history {
            let happening = HistoryEvent { event, stands, despite };
            let (after, moved) = take(state, &happening);
            prop_assert_eq!(moved, naive.apply(&happening), "{:?} {:?}", state, happening);
            prop_assert!(naive.is(after), "{:?} after {:?} {:?}", after, state, happening);
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
fn an_action_has_the_name_of_its_path() {
    assert_eq!(Action::ALL.map(Action::as_str), ["approve", "reject", "reverse"]);
}

#[test]
fn an_operators_action_is_refused_for_a_missing_conversion_or_a_wrong_state() {
    let told = |state, action| match step(state, Event::Action(action)) {
        Transition::Missing => Some(404),
        Transition::Conflict => Some(409),
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
        assert_eq!(Action::ALL.map(|action| told(state, action)), expected, "{state:?}");
    }
}

#[test]
fn each_step_judges_the_reasons_that_can_stand_against_it() {
    use Reason::*;
    let judged = |step: Transition| -> Vec<_> {
        let reasons = Reason::ALL.into_iter();
        reasons.filter(|reason| step.judges(*reason)).collect()
    };
    assert_eq!(judged(Transition::Judge), Reason::ALL);
    assert_eq!(judged(Transition::Await), [WindowClosed, DuplicateTxn, AlreadyRewarded]);
    assert_eq!(judged(Transition::Confirm), Reason::ALL[1..]);
    assert_eq!(
        judged(Transition::Force),
        [DuplicateTxn, AlreadyRewarded, AfterRestore, Suspended, TooFast, TooManyToday]
    );
    assert_eq!(judged(Transition::Release), Reason::ALL[1..]);
    for step in [
        Transition::Reject,
        Transition::LeaveTombstone,
        Transition::TakeBack,
        Transition::Repeat,
        Transition::Missing,
        Transition::Conflict,
    ] {
        assert_eq!(judged(step), [], "{step:?}");
    }
}
