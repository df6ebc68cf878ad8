//! The feed and the list under any order of changes, losses and restores.

use super::{
    sources::{end_batch, exchange, listed, open_batch, sender},
    *,
};

#[derive(Clone, Debug)]
enum Step {
    Open(i64),
    End(i64),
    /// Makes a report. It arrives or not, and its answer arrives or not.
    Exchange {
        arrives: bool,
        answered: bool,
    },
    /// An earlier report arrives, again or late.
    Repeat(usize),
    LoseObject,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0..12_i64).prop_map(Step::Open),
        4 => (0..12_i64).prop_map(Step::End),
        6 => (any::<bool>(), any::<bool>()).prop_map(|(arrives, answered)| Step::Exchange { arrives, answered }),
        2 => (0..8_usize).prop_map(Step::Repeat),
        1 => Just(Step::LoseObject),
    ];
    vec(step, 0..60)
}

proptest! {
    #[test]
    fn the_list_becomes_the_open_items_although_batches_are_lost_repeated_or_late(steps in steps(), most in 1..14_i64) {
        let (db, mut to) = (sender(), attention());
        let (mut open, mut sent, mut now_ms) = (BTreeSet::new(), Vec::new(), NOW);
        for step in steps {
            now_ms += 1_000;
            match step {
                Step::Open(n) => {
                    open_batch(&db, n);
                    open.insert(format!("ledger: batch after {n}"));
                }
                Step::End(n) => {
                    end_batch(&db, n);
                    open.remove(&format!("ledger: batch after {n}"));
                }
                Step::Exchange { arrives, answered } => {
                    let made = feed_of(&db).prepare(now_ms).unwrap().unwrap();
                    if arrives {
                        let heard = feed_batches::apply(&to, now_ms, &made.batch, most).unwrap();
                        if answered {
                            feed_of(&db).confirm(now_ms, &made, &heard).unwrap();
                        }
                    }
                    sent.push(made.batch);
                }
                Step::Repeat(back) => {
                    if let Some(report) = sent.iter().rev().nth(back) {
                        feed_batches::apply(&to, now_ms, report, most).unwrap();
                    }
                }
                // A report under way to it is lost with it.
                Step::LoseObject => {
                    to = attention();
                    sent.clear();
                }
            }
            prop_assert!(listed(&to).len() <= usize::try_from(most).unwrap());
        }
        // Then reports arrive, at least one of a day without changes.
        for _ in 0..30 {
            let Some(due_ms) = attention_feed::due_ms(&db, now_ms).unwrap() else { break };
            now_ms = due_ms;
            exchange(&db, &to, now_ms, most);
        }
        let shown = listed(&to);
        let expected = open.len().min(usize::try_from(most).unwrap());
        prop_assert_eq!(shown.len(), expected);
        prop_assert!(shown.is_subset(&open), "{:?} of {:?}", shown, open);
        let page = list(&to, all());
        prop_assert_eq!(page["counts"]["batch_refused"].as_u64().unwrap(), u64::try_from(open.len()).unwrap());
    }
}
