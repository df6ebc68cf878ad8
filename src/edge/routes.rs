//! The edge's route table. Other paths belong to the origin or do not exist.

use crate::limits::Pool;
use contract::origin::HEALTH;
use platform::http::router::{Interface, Method::*, Route, RouteName, on};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handler {
    Click,
    Conversion,
    PostOffers,
    GetOffers,
    Report,
    Health,
    Metrics,
}

use Handler::*;

pub const CLICK: &str = "/v2/tracking/click";
pub const OFFERS: &str = "/v1/offer/api";

#[rustfmt::skip]
pub const ROUTES: &[Route<Handler, Pool>] = &[
    Route::new(Interface::Tracking, CLICK, RouteName::Click, &[on(Get, Click), on(Head, Click)]),
    Route::new(Interface::Tracking, "/v2/tracking/conversion", RouteName::Conversion, &[
        on(Get, Conversion),
        on(Post, Conversion),
    ]),
    Route::new(Interface::Offers, OFFERS, RouteName::Offers, &[
        on(Post, PostOffers),
        on(Get, GetOffers),
        on(Head, GetOffers),
    ]),
    Route::new(Interface::Reporting, "/v1/core/reporting/public/signal/report/generate", RouteName::Report, &[
        on(Post, Report),
    ]),
    Route::new(Interface::Any, HEALTH, RouteName::Health, &[on(Get, Health), on(Head, Health)]),
    Route::new(Interface::Any, "/metrics", RouteName::Health, &[on(Get, Metrics)]),
];
