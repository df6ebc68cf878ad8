//! The record of a click: only the data that its conversion and callback need later. The record is sealed into the
//! click id, so no database stores it, except for a short click id.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::model::{AppId, Country};

/// A click. While it is sealed, it borrows from the request; once it is opened, it owns its texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Click<'a> {
    /// The clicked offer.
    pub offer: Cow<'a, str>,
    /// The goal in the tracking URL. It identifies the offer; the postback decides which goal is paid.
    pub goal: Cow<'a, str>,
    /// The app that the user clicked in.
    pub app: AppId,
    /// The number of the app's outbox that keeps the user's conversions.
    pub shard: u8,
    /// The revision of the offer's terms that was in force.
    pub offer_terms: i64,
    /// The revision of the app's terms that was in force.
    pub app_terms: i64,
    /// The publisher's identifier of the user, returned in the callback.
    pub user_id: Cow<'a, str>,
    /// The Android advertising identifier, if the device has one.
    pub gaid: Option<Cow<'a, str>>,
    /// The iOS advertising identifier, if the device has one.
    pub idfa: Option<Cow<'a, str>>,
    /// `c1` to `c5`, in this order.
    pub custom: [Option<Cow<'a, str>>; 5],
    /// The spot in the app, if the link names one.
    pub placement: Option<Cow<'a, str>>,
    /// The country of the visitor's address; `None` if the network does not report one.
    pub country: Option<Country>,
    /// Milliseconds since the Unix epoch.
    pub clicked_at_ms: i64,
}

impl Click<'_> {
    /// Copies the borrowed texts.
    pub fn into_owned(self) -> Click<'static> {
        fn owned(text: Cow<'_, str>) -> Cow<'static, str> {
            Cow::Owned(text.into_owned())
        }
        Click {
            offer: owned(self.offer),
            goal: owned(self.goal),
            app: self.app,
            shard: self.shard,
            offer_terms: self.offer_terms,
            app_terms: self.app_terms,
            user_id: owned(self.user_id),
            gaid: self.gaid.map(owned),
            idfa: self.idfa.map(owned),
            custom: self.custom.map(|text| text.map(owned)),
            placement: self.placement.map(owned),
            country: self.country,
            clicked_at_ms: self.clicked_at_ms,
        }
    }
}

#[cfg(test)]
impl Click<'static> {
    /// A click of app 00000042 without any optional parameter.
    pub fn sample(user_id: &'static str, clicked_at_ms: i64) -> Self {
        Self {
            offer: "60118".into(),
            goal: "60118-1".into(),
            app: AppId::from_number(42).unwrap(),
            shard: 5,
            offer_terms: 1_789_000_000,
            app_terms: 1_770_000_000,
            user_id: user_id.into(),
            gaid: None,
            idfa: None,
            custom: [const { None }; 5],
            placement: None,
            country: None,
            clicked_at_ms,
        }
    }
}

#[cfg(test)]
pub mod strategies {
    //! Random clicks for the property tests of this folder.

    use proptest::{option, prelude::*};

    use super::*;

    /// Texts of every shape that the packing distinguishes, up to 256 characters.
    pub fn text() -> impl Strategy<Value = Cow<'static, str>> {
        prop_oneof![
            4 => "[A-Za-z0-9_@.-]{1,24}",
            2 => "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
            1 => "[0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{12}",
            1 => "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9]{4}-[0-9]{4}-[0-9]{12}",
            2 => "[0-9]{1,22}",
            1 => "[A-Za-z0-9_@.-]{0,256}",
            1 => ".{0,20}",
        ]
        .prop_map(Cow::Owned)
    }

    pub fn click() -> impl Strategy<Value = Click<'static>> {
        let instants = prop_oneof![3 => 1_767_225_600_000..4_000_000_000_000_i64, 1 => any::<i64>()];
        let revision = || prop_oneof![3 => 1_767_225_600..4_000_000_000_i64, 1 => any::<i64>()];
        (
            (text(), text(), 0..100_000_000_u32, text()),
            (any::<u8>(), revision(), revision()),
            (option::of(text()), option::of(text()), proptest::array::uniform5(option::of(text()))),
            (option::of(text()), option::of(any::<u8>()), instants),
        )
            .prop_map(
                |(
                    (offer, goal, app, user_id),
                    (shard, offer_terms, app_terms),
                    (gaid, idfa, custom),
                    (placement, country, clicked_at_ms),
                )| {
                    Click {
                        offer,
                        goal,
                        app: AppId::from_number(app).unwrap(),
                        shard,
                        offer_terms,
                        app_terms,
                        user_id,
                        gaid,
                        idfa,
                        custom,
                        placement,
                        country: country.and_then(Country::from_index),
                        clicked_at_ms,
                    }
                },
            )
    }
}
