//! Decides how much a conversion pays, and how long after its click it is still paid.

use super::{state::CONVERSION_WINDOW_CLOSED, table::Action};
use crate::{
    catalog::offer::{DEFAULT_CONVERSION_WINDOW_DAYS, MAX_CONVERSION_WINDOW_DAYS},
    model::{ApiError, CurrencyRate, DAY_MS, MicroUsd, money::InAppAmount},
};

/// The amounts paid for a conversion. They are fixed when it is committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amounts {
    /// The amount that the advertiser owes.
    pub payout: MicroUsd,
    /// The amount in the app's currency, in units of its last decimal. At most 10^21, too large for an SQLite integer.
    pub value: InAppAmount,
}

impl Amounts {
    /// The amounts of a payout, converted and rounded by the app's currency.
    pub fn new(payout: MicroUsd, rate: &CurrencyRate) -> Self {
        Self { payout, value: rate.convert(payout) }
    }
}

/// Days after a click during which its postbacks are accepted. The conversion's row is deleted a day later.
pub const CLICK_LIFE_DAYS: i64 = 400;

/// Refuses every postback of a click that is [`CLICK_LIFE_DAYS`] old or older.
pub fn check_life(clicked_at_ms: i64, received_at_ms: i64) -> Result<(), ApiError> {
    if received_at_ms.saturating_sub(clicked_at_ms) < CLICK_LIFE_DAYS * DAY_MS {
        Ok(())
    } else {
        Err(CONVERSION_WINDOW_CLOSED.with_message(format!("the click is at least {CLICK_LIFE_DAYS} days old")))
    }
}

/// Days after an approval during which the operator can reverse it, however old the click is.
pub const REVERSAL_DAYS: i64 = 30;

/// Days for which superseded terms are kept. An edge with an old snapshot may seal them in a click up to a day after
/// they were superseded, and the click's reward may be reversed on the last possible day.
pub const TERMS_KEPT_DAYS: i64 = CLICK_LIFE_DAYS + 1 + REVERSAL_DAYS;

/// Refuses an operator's action on a conversion whose click is past its life. One exception: a reward that was paid in
/// the last [`REVERSAL_DAYS`] can still be reversed.
pub fn check_action_life(
    action: Action,
    clicked_at_ms: i64,
    paid_at_ms: Option<i64>,
    now_ms: i64,
) -> Result<(), ApiError> {
    let is_recent = |paid_at_ms| now_ms.saturating_sub(paid_at_ms) <= REVERSAL_DAYS * DAY_MS;
    if action == Action::Reverse && paid_at_ms.is_some_and(is_recent) {
        return Ok(());
    }
    check_life(clicked_at_ms, now_ms)
}

/// Refuses a conversion that was received more than `window_days` after its click, to the millisecond. Accepts a click
/// in the future, because another machine's clock may run ahead.
pub fn check_window(clicked_at_ms: i64, received_at_ms: i64, window_days: Option<u16>) -> Result<(), ApiError> {
    let days = window_days.unwrap_or(DEFAULT_CONVERSION_WINDOW_DAYS).min(MAX_CONVERSION_WINDOW_DAYS);
    if received_at_ms.saturating_sub(clicked_at_ms) <= i64::from(days) * DAY_MS {
        Ok(())
    } else {
        Err(CONVERSION_WINDOW_CLOSED
            .with_message(format!("the click is older than the offer's conversion window of {days} days")))
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

    #[test]
    fn the_window_is_inclusive_to_the_millisecond() {
        const CLICK: i64 = 1_790_000_000_123;
        for (window, days) in
            [(None, 30), (Some(1), 1), (Some(30), 30), (Some(90), 90), (Some(91), 90), (Some(u16::MAX), 90)]
        {
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
    fn no_postback_is_taken_from_400_days_on() {
        const CLICK: i64 = 1_790_000_000_123;
        let last = CLICK + 400 * DAY_MS - 1;
        assert_eq!(check_life(CLICK, last), Ok(()));
        assert_eq!(check_life(CLICK, CLICK - DAY_MS), Ok(()));
        let refusal = check_life(CLICK, last + 1).unwrap_err();
        assert_eq!((refusal.status, refusal.code), (410, "conversion_window_closed"));
    }

    #[test]
    fn a_payout_is_converted_at_the_apps_rate() {
        let rate =
            CurrencyRate { name: "Coins".into(), per_usd: PerUsd(42_500_000), decimals: 2, rounding: Rounding::Down };
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
    }
}
