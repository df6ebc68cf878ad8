//! What Signpost knows about: publishers and their apps, advertisers and their offers, and each offer's goals, as the
//! operator's interface (`design.md` section 10) takes them. Everything here is checked where it enters: a function
//! that takes a [`Country`] cannot be handed `"UK"`.

pub mod advertiser;
pub mod app;
pub mod country;
pub mod credentials;
pub mod document;
pub mod ids;
pub mod lists;
pub mod money;
pub mod offer;
pub mod plain_text;
pub mod publisher;
pub mod snapshot;

pub use country::{Country, CountrySet};
pub use ids::{AdvertiserId, AppId, GoalId, OfferId, PublisherId};
pub use lists::{Category, OfferType, Platform};
pub use money::{CurrencyRate, MicroUsd};
pub use offer::{Goal, Offer};
