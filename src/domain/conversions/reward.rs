//! Decides which goal a conversion pays, how much, and until when. The user chooses the `rid` of a click, so it only
//! identifies the offer and never decides the payout.

use super::state::CONVERSION_WINDOW_CLOSED;
use crate::{
    catalog::offer::{DEFAULT_CONVERSION_WINDOW_DAYS, MAX_CONVERSION_WINDOW_DAYS},
    model::{CurrencyRate, MicroUsd, api_error::ApiError, money::InAppAmount, time::DAY_MS},
};

pub const UNKNOWN_GOAL: ApiError = ApiError::new(
    400,
    "unknown_goal",
    "goal is neither the id nor the event code of a goal of the clicked offer",
);

/// The payment data of a goal of the clicked offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PayableGoal<'a> {
    pub id: &'a str,
    pub ord: u32,
    /// The advertiser's event code.
    pub gl_val: Option<&'a str>,
    pub payout: MicroUsd,
    /// No longer offered, but still paid for earlier clicks.
    pub retired: bool,
}

/// Chooses the goal that a conversion pays from all goals of the clicked offer, given in any order: the goal `named` by
/// its id or event code, or the offer's first goal by `ord` if none is named.
///
/// A match by id wins over one by event code. Among several, a goal on offer wins over a retired one, then the lower
/// `ord`, then the lower id, which is also the order in which goals are shown. [`UNKNOWN_GOAL`] if none matches.
pub fn paid_goal<'g, 'a>(
    goals: &'g [PayableGoal<'a>],
    named: Option<&str>,
) -> Result<&'g PayableGoal<'a>, ApiError> {
    let first = |fits: &dyn Fn(&PayableGoal<'_>) -> bool| {
        goals
            .iter()
            .filter(|goal| fits(goal))
            .min_by_key(|goal| (goal.retired, goal.ord, goal.id))
    };
    match named {
        None => first(&|_| true),
        Some(named) => first(&|goal| goal.id == named).or_else(|| first(&|goal| goal.gl_val == Some(named))),
    }
    .ok_or(UNKNOWN_GOAL)
}

/// The amounts paid for a conversion. They are fixed when it is committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amounts {
    pub payout: MicroUsd,
    /// In the app's currency, in units of its last decimal. At most 10^21, which is too large for an SQLite integer.
    pub value: InAppAmount,
}

impl Amounts {
    pub fn new(payout: MicroUsd, rate: &CurrencyRate) -> Self {
        Self {
            payout,
            value: rate.convert(payout),
        }
    }
}

/// Refuses a conversion received more than `window_days` after its click, inclusive and to the millisecond. A click in
/// the future passes, because another machine's clock may run ahead.
pub fn check_window(
    clicked_at_ms: i64,
    received_at_ms: i64,
    window_days: Option<u16>,
) -> Result<(), ApiError> {
    // Retired goals are kept only for the longest window, so no offer's window may exceed it.
    let days = window_days
        .unwrap_or(DEFAULT_CONVERSION_WINDOW_DAYS)
        .min(MAX_CONVERSION_WINDOW_DAYS);
    if received_at_ms.saturating_sub(clicked_at_ms) <= i64::from(days) * DAY_MS {
        Ok(())
    } else {
        Err(CONVERSION_WINDOW_CLOSED.with_message(format!(
            "the click is older than the offer's conversion window of {days} days"
        )))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        callbacks::fields::Decimal,
        model::money::{PerUsd, Rounding},
    };

    fn goal<'a>(id: &'a str, ord: u32, gl_val: &'a str, retired: bool) -> PayableGoal<'a> {
        PayableGoal {
            id,
            ord,
            gl_val: Some(gl_val).filter(|code| !code.is_empty()),
            payout: MicroUsd(i64::from(ord) * 1_000_000),
            retired,
        }
    }

    #[test]
    fn a_conversion_pays_the_named_goal_or_the_first() {
        let goals = [
            goal("last", 9, "purchase", false),
            goal("old-first", 0, "install", true),
            goal("b", 1, "level_5", false),
            goal("a", 1, "level_5", false),
            goal("gone", 2, "trial", true),
            goal("purchase", 5, "", false),
            goal("old", 1, "level_5", true),
        ];
        let table = [
            (None, Some("a")),
            (Some("last"), Some("last")),
            (Some("a"), Some("a")),
            (Some("b"), Some("b")),
            (Some("level_5"), Some("a")),
            (Some("trial"), Some("gone")),
            (Some("gone"), Some("gone")),
            (Some("install"), Some("old-first")),
            (Some("purchase"), Some("purchase")),
            (Some("Level_5"), None),
            (Some("LAST"), None),
            (Some(""), None),
            (Some("a "), None),
        ];
        for (named, expected) in table {
            let paid = paid_goal(&goals, named);
            assert_eq!(paid.as_ref().ok().map(|goal| goal.id), expected, "{named:?}");
            if let Err(refusal) = paid {
                assert_eq!((refusal.status, refusal.code), (400, "unknown_goal"), "{named:?}");
            }
        }
    }

    #[test]
    fn an_offer_with_only_retired_goals_still_pays_the_first() {
        let goals = [goal("b", 2, "", true), goal("a", 1, "", true)];
        assert_eq!(paid_goal(&goals, None).unwrap().id, "a");
        assert_eq!(paid_goal(&[], None), Err(UNKNOWN_GOAL));
    }

    #[test]
    fn the_window_is_inclusive_to_the_millisecond() {
        const CLICK: i64 = 1_790_000_000_123;
        for (window, days) in [
            (None, 30),
            (Some(1), 1),
            (Some(30), 30),
            (Some(90), 90),
            (Some(91), 90),
            (Some(u16::MAX), 90),
        ] {
            let last = CLICK + days * DAY_MS;
            for received in [CLICK, last] {
                let passed = check_window(CLICK, received, window);
                assert_eq!(passed, Ok(()), "{window:?} {received}");
            }
            let named = format!("{days} days");
            let refusal = check_window(CLICK, last + 1, window).expect_err(&named);
            let code = (refusal.status, refusal.code);
            assert_eq!(code, (410, "conversion_window_closed"), "{window:?}");
            assert!(refusal.message.contains(&named), "{window:?}: {refusal:?}");
        }
        assert_eq!(check_window(CLICK, CLICK - DAY_MS, Some(1)), Ok(()));
        assert_eq!(check_window(i64::MAX, i64::MIN, Some(1)), Ok(()));
        assert!(check_window(i64::MIN, i64::MAX, Some(90)).is_err());
    }

    #[test]
    fn a_payout_is_converted_at_the_apps_rate() {
        let rate = CurrencyRate {
            name: "Coins".into(),
            per_usd: PerUsd(42_500_000),
            decimals: 2,
            rounding: Rounding::Down,
        };
        let paid = Amounts::new(MicroUsd(750_000), &rate);
        assert_eq!((paid.payout, paid.value), (MicroUsd(750_000), InAppAmount(3_187)));
    }

    proptest! {
        #[test]
        fn a_reversal_takes_back_exactly_what_was_paid(
            payout in 0..=MicroUsd::MAX_PAYOUT.0,
            per_usd in 1..=1_000_000_000_000_000_i64,
            decimals in 0..=6_u8,
            rounding in prop_oneof![Just(Rounding::Down), Just(Rounding::Up), Just(Rounding::Nearest)],
        ) {
            let rate = CurrencyRate { name: "Coins".into(), per_usd: PerUsd(per_usd), decimals, rounding };
            let paid = Amounts::new(MicroUsd(payout), &rate);
            let amounts = [Decimal::usd(paid.payout), Decimal::in_app(&rate, paid.value)];
            let negative = [
                Decimal::usd(MicroUsd(-paid.payout.0)),
                Decimal::in_app(&rate, InAppAmount(-paid.value.0)),
            ];
            for (amount, negative) in amounts.iter().zip(&negative) {
                prop_assert_eq!(&amount.negated(), negative);
                prop_assert_eq!(&amount.negated().negated(), amount);
            }
            prop_assert!(paid.value.0 >= 0 && paid.value.0 <= 10_i128.pow(21));
        }

        /// Compares with a linear search over sorted goals.
        #[test]
        fn the_order_of_goals_in_the_list_does_not_change_the_paid_goal(
            goals in proptest::collection::vec(("[ab]{1,2}", 0..3_u32, "[abc]{0,2}", any::<bool>()), 0..6)
                .prop_shuffle(),
            named in proptest::option::of("[abc]{1,2}"),
        ) {
            let goals: Vec<_> = goals.iter().map(|(id, ord, code, retired)| goal(id, *ord, code, *retired)).collect();
            let mut sorted = goals.clone();
            sorted.sort_by(|a, b| a.retired.cmp(&b.retired).then(a.ord.cmp(&b.ord)).then(a.id.cmp(b.id)));
            let mut expected = None;
            for goal in &sorted {
                if expected.is_none() && named.as_deref().is_none_or(|named| goal.id == named) {
                    expected = Some(goal.id);
                }
            }
            for goal in &sorted {
                if expected.is_none() && goal.gl_val.is_some() && goal.gl_val == named.as_deref() {
                    expected = Some(goal.id);
                }
            }
            prop_assert_eq!(paid_goal(&goals, named.as_deref()).ok().map(|goal| goal.id), expected);
        }
    }
}
