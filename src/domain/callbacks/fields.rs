//! The fields of a callback. The values are frozen when the conversion is committed, so that every attempt sends the
//! same values even if the operator changes the catalog in between.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, de::Error};
use serde_json::value::RawValue;

use crate::model::{CurrencyRate, MicroUsd, money::InAppAmount};

/// The values of one callback, stored as JSON under the names that are sent. A value that the click or the conversion
/// did not have is `None`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fields {
    /// The `user_id` of the click.
    pub user_id: String,
    /// In the app's currency; negative for a reversal, 0 for a notice.
    pub value: Decimal,
    /// In USD; negative for a reversal, 0 for a notice.
    pub payout: Decimal,
    /// The name of the app's currency.
    pub currency: String,
    /// Derived by Signpost, and the same on every attempt. A reversal and a notice have their own ids.
    pub transaction_id: String,
    /// The clicked offer.
    pub offer_id: String,
    /// The goal that the user reached.
    pub goal_id: String,
    /// The goal's `gl_val`: the advertiser's event code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal_value: Option<String>,
    /// The app of the click, as 8 digits.
    pub app_id: String,
    /// The Android advertising identifier of the click.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gaid: Option<String>,
    /// The iOS advertising identifier of the click.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idfa: Option<String>,
    /// The click's custom parameter `c1`, a value of the publisher's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub c1: Option<String>,
    /// Like `c1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub c2: Option<String>,
    /// Like `c1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub c3: Option<String>,
    /// Like `c1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub c4: Option<String>,
    /// Like `c1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub c5: Option<String>,
    /// The country of the click, as ISO 3166-1 alpha-2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// Time of the click, in seconds since the Unix epoch.
    pub click_ts: i64,
    /// Time of the conversion, in seconds since the Unix epoch.
    pub conversion_ts: i64,
    /// The event that the callback reports.
    pub status: Status,
    /// In a reversal, the transaction id of the reward that is taken back. In a notice, the transaction id with which
    /// the conversion's reward would be paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_transaction_id: Option<String>,
    /// In a notice, the amount that is not paid, in the app's currency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_value: Option<Decimal>,
    /// The reason given by the advertiser or the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

crate::named_values! {
    /// The event that a callback reports, with the text that is sent. Settings list events in this order.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Status {
        /// The reward is paid.
        Approved = "approved",
        /// A paid reward is taken back.
        Reversed = "reversed",
        /// Nothing is paid yet.
        Pending = "pending",
        /// Nothing is paid.
        Rejected = "rejected",
    }
}

/// An amount as decimal text. A float could neither represent the largest amounts nor keep the text of every amount
/// unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Decimal(String);

impl Decimal {
    /// A payout, in USD.
    pub fn usd(amount: MicroUsd) -> Self {
        let mut text = String::new();
        amount.write_usd(&mut text);
        Self(text)
    }

    /// A reward, in the app's currency.
    pub fn in_app(currency: &CurrencyRate, amount: InAppAmount) -> Self {
        let mut text = String::new();
        currency.write_amount(&mut text, amount);
        Self(text)
    }

    /// Parses a JSON number without exponent, which can be put into a JSON body unchanged. `None` for other text.
    pub fn parse(text: &str) -> Option<Self> {
        let plain = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'));
        (plain && serde_json::from_str::<&RawValue>(text).is_ok()).then(|| Self(text.to_owned()))
    }

    /// The text, which is a JSON number without exponent.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The exact negative, for a reversal.
    pub fn negated(&self) -> Self {
        match self.0.strip_prefix('-') {
            Some(positive) => Self(positive.to_owned()),
            // Zero has no sign.
            None if self.0.bytes().all(|byte| matches!(byte, b'0' | b'.')) => self.clone(),
            None => Self(format!("-{}", self.0)),
        }
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom("must be a string with a decimal number"))
    }
}

/// The value of a field. The variant decides how a JSON body writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// Text. A JSON body quotes it.
    Text(&'a str),
    /// An amount. A JSON body writes it as a number.
    Decimal(&'a Decimal),
    /// A time, in seconds since the Unix epoch.
    Seconds(i64),
}

impl<'a> Value<'a> {
    /// The value in a query, before percent-encoding.
    pub fn text(self) -> Cow<'a, str> {
        match self {
            Self::Text(text) => text.into(),
            Self::Decimal(amount) => amount.as_str().into(),
            Self::Seconds(seconds) => seconds.to_string().into(),
        }
    }

    /// The value in a JSON body.
    pub fn json(self) -> String {
        match self {
            Self::Text(text) => serde_json::Value::from(text).to_string(),
            Self::Decimal(_) | Self::Seconds(_) => self.text().into_owned(),
        }
    }
}

use Value::{Seconds, Text};

/// Reads a field. `None` if the callback does not have it.
pub type Get = for<'a> fn(&'a Fields) -> Option<Value<'a>>;

/// All fields by the names that queries, macros and JSON bodies use, in the order in which they are sent
/// (docs/INTEGRATING.md, "Callbacks").
pub const TABLE: [(&str, Get); 23] = [
    ("user_id", |fields| Some(Text(&fields.user_id))),
    ("value", |fields| Some(Value::Decimal(&fields.value))),
    ("payout", |fields| Some(Value::Decimal(&fields.payout))),
    ("currency", |fields| Some(Text(&fields.currency))),
    ("transaction_id", |fields| Some(Text(&fields.transaction_id))),
    ("offer_id", |fields| Some(Text(&fields.offer_id))),
    ("goal_id", |fields| Some(Text(&fields.goal_id))),
    ("goal_value", |fields| optional(&fields.goal_value)),
    ("app_id", |fields| Some(Text(&fields.app_id))),
    ("gaid", |fields| optional(&fields.gaid)),
    ("idfa", |fields| optional(&fields.idfa)),
    ("c1", |fields| optional(&fields.c1)),
    ("c2", |fields| optional(&fields.c2)),
    ("c3", |fields| optional(&fields.c3)),
    ("c4", |fields| optional(&fields.c4)),
    ("c5", |fields| optional(&fields.c5)),
    ("country", |fields| optional(&fields.country)),
    ("click_ts", |fields| Some(Seconds(fields.click_ts))),
    ("conversion_ts", |fields| Some(Seconds(fields.conversion_ts))),
    ("status", |fields| Some(Text(fields.status.as_str()))),
    ("original_transaction_id", |fields| optional(&fields.original_transaction_id)),
    ("pending_value", |fields| fields.pending_value.as_ref().map(Value::Decimal)),
    ("reason", |fields| optional(&fields.reason)),
];

fn optional(text: &Option<String>) -> Option<Value<'_>> {
    text.as_deref().map(Text)
}

impl Fields {
    /// The fields that this callback has, in the order of [`TABLE`].
    pub fn present(&self) -> impl Iterator<Item = (&'static str, Value<'_>)> {
        TABLE.into_iter().filter_map(|(name, get)| Some((name, get(self)?)))
    }
}

#[cfg(test)]
pub mod strategies {
    //! Random callbacks for the property tests of this folder.

    use proptest::{option, prelude::*};

    use super::*;
    use crate::model::money::write_decimal;

    /// An amount with this many decimals.
    pub fn decimal(amount: i128, decimals: u8) -> Decimal {
        let mut text = String::new();
        write_decimal(&mut text, amount, decimals);
        Decimal::parse(&text).unwrap()
    }

    /// Arbitrary text, and text with a meaning in URLs.
    fn text() -> impl Strategy<Value = String> {
        prop_oneof![".{0,20}", "[%&=+#?/{}\"'\\\\ a-c.;]{0,12}", Just("{c1}".to_owned()), Just("..".to_owned()),]
    }

    pub fn fields() -> impl Strategy<Value = Fields> {
        let amounts = (any::<i64>(), 0..=6_u8, any::<i32>());
        let texts = prop::collection::vec(text(), 6);
        let optional = prop::collection::vec(option::of(text()), 11);
        let status = prop::sample::select(Status::ALL.as_slice());
        (amounts, texts, optional, any::<(u32, u32)>(), status).prop_map(
            |((value, decimals, payout), texts, optional, (click_ts, conversion_ts), status)| {
                let [user_id, currency, offer_id, goal_id, app_id, id] = texts.try_into().unwrap();
                let [goal_value, gaid, idfa, c1, c2, c3, c4, c5, country, original, reason] =
                    optional.try_into().unwrap();
                Fields {
                    user_id,
                    value: decimal(value.into(), decimals),
                    payout: Decimal::usd(MicroUsd(payout.into())),
                    currency,
                    transaction_id: format!("t{}", id.len()),
                    offer_id,
                    goal_id,
                    goal_value,
                    app_id,
                    gaid,
                    idfa,
                    c1,
                    c2,
                    c3,
                    c4,
                    c5,
                    country,
                    click_ts: click_ts.into(),
                    conversion_ts: conversion_ts.into(),
                    status,
                    original_transaction_id: original,
                    pending_value: reason.as_ref().map(|_| decimal(payout.into(), decimals)),
                    reason,
                }
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_decimal_is_a_plain_number() {
        let largest = i128::MAX.to_string();
        for good in ["0", "-1", "12.34", "-0.5", &largest] {
            let parsed = Decimal::parse(good);
            assert_eq!(parsed.as_ref().map(Decimal::as_str), Some(good));
        }
        for bad in ["", "-", "1.", ".5", "01", "1e3", "+1", " 1", "1,5", "1-2", "NaN", "1}", "\"1\""] {
            assert!(Decimal::parse(bad).is_none(), "{bad}");
        }
        assert!(serde_json::from_str::<Decimal>("\"1,\"").is_err());
        assert_eq!(Decimal::usd(MicroUsd(-1_250_000)).as_str(), "-1.25");
    }

    #[test]
    fn a_reversal_sends_the_negative_amount() {
        for (amount, negative) in [
            ("1", "-1"),
            ("0.75", "-0.75"),
            ("-0.5", "0.5"),
            ("9007199254740993.000001", "-9007199254740993.000001"),
            ("0", "0"),
            ("0.00", "0.00"),
        ] {
            let amount = Decimal::parse(amount).unwrap();
            assert_eq!(amount.negated().as_str(), negative, "{amount:?}");
        }
    }

    proptest! {
        #[test]
        fn negating_is_exact_and_negating_twice_changes_nothing(amount in any::<i64>(), decimals in 0..=6_u8) {
            let amount = i128::from(amount);
            let decimal = strategies::decimal(amount, decimals);
            prop_assert_eq!(decimal.negated(), strategies::decimal(-amount, decimals));
            prop_assert_eq!(decimal.negated().negated(), decimal);
        }

        #[test]
        fn stored_fields_are_read_back_unchanged(fields in strategies::fields()) {
            let stored = serde_json::to_string(&fields).unwrap();
            prop_assert_eq!(serde_json::from_str::<Fields>(&stored).unwrap(), fields);
        }

        #[test]
        fn the_table_has_every_field_under_its_stored_name(fields in strategies::fields()) {
            let stored: serde_json::Map<_, _> = serde_json::from_value(serde_json::to_value(&fields).unwrap()).unwrap();
            let present: Vec<_> = fields.present().collect();
            prop_assert_eq!(stored.len(), present.len());
            for (name, value) in present {
                let text = match &stored[name] {
                    serde_json::Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                prop_assert_eq!(value.text(), text);
            }
        }
    }
}
