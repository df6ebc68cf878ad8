//! The values that every interface shares. Each is validated when it is parsed: a [`Country`] cannot hold `"UK"`.

pub mod api_error;
pub mod ascii_split;
pub mod country;
pub mod credentials;
pub mod document;
pub mod enums;
pub mod ids;
pub mod lines;
pub mod mac;
pub mod money;
pub mod parts;
pub mod placeholders;
pub mod revision;
pub mod seeded_hash;
pub mod time;
pub mod url_template;

pub use api_error::{ApiError, common};
pub use country::{Country, CountrySet};
pub use credentials::{CredentialHash, Vault};
pub use document::{Document, FieldError, INVALID_FIELD};
pub use enums::{Category, OfferState, OfferType, Platform};
pub use ids::{
    AdvertiserId, AppId, FIRST_TEST_APP, GoalId, ID_RULE, OfferId, PublisherId, TEST_ID, trimmed, trimmed_if_any,
};
pub use mac::MacKeys;
pub use money::{CurrencyRate, MicroUsd};
pub use time::{DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, UtcDay};
