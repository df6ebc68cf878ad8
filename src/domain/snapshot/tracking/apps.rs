//! Shards of apps, each with its publisher's approval and Pub-Key hash.

use super::{
    BuiltShard, NO_LIMIT, Shard, ShardKind, Slot, check_slot, goals::OfferView, limit, opened_shard, terms_in_force,
};
use crate::{
    catalog::app::App,
    conversions::terms::{CurrentApp, TermsInForce},
    model::{
        AppId, CredentialHash, CurrencyRate, Platform, PublisherId,
        money::{PerUsd, Rounding},
        parts::{Span, to_u32},
    },
    snapshot::{
        columns::{Fields, Rows, Strings, U32Column, columns, find_sorted},
        envelope::{Damage, Kind},
    },
};

/// Bytes of an app's row, in this order. Three `u8`: platform, decimals, rounding. `i64`: millionths of a unit per USD.
/// `u32`: the end of the app's blocked offers in `blocked`. Four `i64`: the app's revision, the revision of its terms,
/// the UNIX second before which clicks are paid by these terms, the revision of its callback settings. `u8`: number of
/// its outboxes. `u32`: maximum rewards of a user per day. Two `u8`: whether its publisher is approved, and whether the
/// publisher has a Pub-Key. 32 bytes: the hash of the Pub-Key.
const APP_ROW: usize = 1 + 1 + 1 + 8 + 4 + 4 * 8 + 1 + 4 + 1 + 1 + 32;
/// Number of texts of an app: its publisher's id, its currency's name and its fallback URL.
const APP_TEXTS: u32 = 3;

columns! {
    AppColumns {
        slot,
        /// One `u32` per app, ascending.
        ids,
        apps,
        texts,
        /// The click secrets of each app, sealed under `EDGE_KEYS`; empty if its clicks are not signed.
        click_secrets,
        /// The ids of blocked offers, app by app, ascending within each app.
        blocked,
    }
}

opened_shard! {
    /// An opened shard of apps.
    AppShard: Apps, AppColumns
}

impl AppShard {
    /// An app by its id; `None` if it is not in this shard.
    pub fn app(&self, id: AppId) -> Option<AppView<'_>> {
        let ids = U32Column::new(self.columns.ids.of(&self.bytes));
        let row = find_sorted(ids.len(), |row| Some(ids.get(row)?.cmp(&id.number())))?;
        self.app_at(row)
    }

    pub(super) fn app_at(&self, row: u32) -> Option<AppView<'_>> {
        let id = AppId::from_number(U32Column::new(self.columns.ids.of(&self.bytes)).get(row)?)?;
        let mut fields = Fields(self.row(row)?);
        let platform = Platform::from_code(fields.u8()?)?;
        let decimals = fields.u8()?;
        let rounding = match fields.u8()? {
            code if code == Rounding::Up as u8 => Rounding::Up,
            code if code == Rounding::Nearest as u8 => Rounding::Nearest,
            _ => Rounding::Down,
        };
        let per_usd = PerUsd(fields.i64()?);
        let blocked = (self.first_blocked(row)?, fields.u32()?);
        let (revision, terms) = (fields.i64()?, terms_in_force(&mut fields)?);
        let (callback_revision, outbox_shards) = (fields.i64()?, fields.u8()?);
        let max_rewards_per_user_day = limit(fields.u32()?);
        let (approved, has_key) = (fields.u8()? != 0, fields.u8()? != 0);
        let hash = fields.bytes::<32>()?;
        let texts = self.strings(self.columns.texts);
        let text = |index| texts.get(row.checked_mul(APP_TEXTS)?.checked_add(index)?);
        let fallback_url = text(2).filter(|url| !url.is_empty());
        let click_secrets = self.strings(self.columns.click_secrets).bytes(row)?;
        Some(AppView {
            shard: self,
            id,
            publisher: PublisherView { id: text(0)?, approved, pub_key_hash: has_key.then_some(hash) },
            platform,
            currency_name: text(1)?,
            per_usd,
            decimals,
            rounding,
            fallback_url,
            click_secrets: (!click_secrets.is_empty()).then_some(click_secrets),
            blocked,
            revision,
            terms,
            callback_revision,
            outbox_shards,
            max_rewards_per_user_day,
        })
    }

    fn row(&self, row: u32) -> Option<&[u8]> {
        let rows = Rows::<APP_ROW>::new(self.columns.apps.of(&self.bytes));
        rows.get(row).map(<[u8; APP_ROW]>::as_slice)
    }

    /// The first row of an app's blocked offers: the end of the previous app's blocked offers.
    fn first_blocked(&self, row: u32) -> Option<u32> {
        const BEFORE_BLOCKED: usize = 1 + 1 + 1 + 8;
        match row.checked_sub(1) {
            Some(before) => Fields(self.row(before)?.get(BEFORE_BLOCKED..)?).u32(),
            None => Some(0),
        }
    }
}

/// The part of an app's publisher that clicks and listings need.
#[derive(Clone, Copy, Debug)]
pub struct PublisherView<'a> {
    /// The publisher's id, unparsed.
    pub id: &'a str,
    /// True if the publisher's apps get offers and their clicks are redirected.
    pub approved: bool,
    /// The hash of the publisher's Pub-Key; `None` if no key was issued.
    pub pub_key_hash: Option<&'a CredentialHash>,
}

/// An app, read in place.
#[derive(Clone, Copy)]
pub struct AppView<'a> {
    shard: &'a AppShard,
    /// The 8-digit id.
    pub id: AppId,
    /// The owner.
    pub publisher: PublisherView<'a>,
    /// The app's platform. The app lists the offers of this platform and of the web.
    pub platform: Platform,
    currency_name: &'a str,
    per_usd: PerUsd,
    decimals: u8,
    rounding: Rounding,
    /// The redirect target of a click that is refused with 403 or 410, as a header value.
    pub fallback_url: Option<&'a str>,
    /// The app's click secrets, sealed under `EDGE_KEYS`; `None` if its clicks are not signed.
    pub click_secrets: Option<&'a [u8]>,
    /// The range of the app's rows in the column of blocked offers.
    blocked: (u32, u32),
    /// The revision of the app's last change.
    pub revision: i64,
    /// The terms that new clicks seal.
    pub terms: TermsInForce,
    callback_revision: i64,
    /// Number of outboxes: 1, 8 or 64.
    pub outbox_shards: u8,
    max_rewards_per_user_day: Option<u32>,
}

impl<'a> AppView<'a> {
    /// The currency of rewards, with its name copied.
    pub fn currency(&self) -> CurrencyRate {
        CurrencyRate {
            name: self.currency_name.to_owned(),
            per_usd: self.per_usd,
            decimals: self.decimals,
            rounding: self.rounding,
        }
    }

    /// The app's current values for conversions; `None` if its publisher's id is malformed.
    pub fn current(&self) -> Option<CurrentApp> {
        Some(CurrentApp {
            revision: self.revision,
            terms: self.terms,
            publisher_id: PublisherId::parse(self.publisher.id)?,
            callback_revision: self.callback_revision,
            outbox_shards: self.outbox_shards,
            max_rewards_per_user_day: self.max_rewards_per_user_day,
        })
    }

    /// True if the app does not show this offer.
    pub fn blocks(&self, offer: &OfferView<'_>) -> bool {
        let (start, end) = self.blocked;
        let ids = self.blocked_ids();
        let rows = end.saturating_sub(start);
        let compare = |row: u32| Some(ids.bytes(start.checked_add(row)?)?.cmp(offer.id.as_bytes()));
        usize::try_from(rows).is_ok_and(|rows| find_sorted(rows, compare).is_some())
    }

    /// The ids of the offers that the app blocks, ascending.
    pub fn blocked_offers(&self) -> impl Iterator<Item = &'a str> {
        let ids = self.blocked_ids();
        (self.blocked.0..self.blocked.1).map_while(move |row| ids.get(row))
    }

    fn blocked_ids(&self) -> Strings<'a> {
        self.shard.strings(self.shard.columns.blocked)
    }
}

/// An app to build a shard from.
#[derive(Clone, Debug)]
pub struct SourceApp {
    /// The id, by whose number the apps of a shard are ordered.
    pub id: AppId,
    /// The stored document.
    pub document: App,
    /// The revision of the app's last change.
    pub revision: i64,
    /// The terms that new clicks seal.
    pub terms: TermsInForce,
    /// The revision of the callback settings.
    pub callback_revision: i64,
    /// The number of the app's outboxes.
    pub outbox_shards: u8,
    /// The document's click secrets, sealed under `EDGE_KEYS`.
    pub click_secrets: Option<Vec<u8>>,
    /// True if the app's publisher is approved.
    pub approved: bool,
    /// The hash of the publisher's Pub-Key; `None` if no key was issued.
    pub pub_key_hash: Option<CredentialHash>,
}

/// Builds the shard of a slot from its apps, in any order.
pub fn build(slot: Slot, mut apps: Vec<SourceApp>) -> BuiltShard {
    apps.sort_by_key(|app| app.id.number());
    let mut rows = Vec::with_capacity(apps.len() * APP_ROW);
    let mut texts = Vec::with_capacity(apps.len() * 3);
    let mut blocked: Vec<&str> = Vec::new();
    for app in &apps {
        let mut ids: Vec<_> = app.document.blocked_offers.iter().map(|offer| offer.as_str()).collect();
        ids.sort_unstable();
        blocked.extend(ids);
        push_row(&mut rows, app, to_u32(blocked.len()));
        texts.extend([
            app.document.publisher_id.as_str().to_owned(),
            app.document.currency.name.clone(),
            app.document.fallback().unwrap_or_default(),
        ]);
    }
    let secrets = apps.iter().map(|app| app.click_secrets.as_deref().unwrap_or_default());
    let columns = AppColumns {
        slot: slot.to_bytes().to_vec(),
        ids: U32Column::column(apps.iter().map(|app| app.id.number())),
        apps: rows,
        texts: Strings::column(texts),
        click_secrets: Strings::column(secrets),
        blocked: Strings::column(blocked),
    };
    BuiltShard { bytes: columns.into_value(Kind::Apps), rows: apps.len() }
}

fn push_row(rows: &mut Vec<u8>, app: &SourceApp, blocked_end: u32) {
    let SourceApp {
        id: _,
        document,
        revision,
        terms,
        callback_revision,
        outbox_shards,
        click_secrets: _,
        approved,
        pub_key_hash,
    } = app;
    rows.extend([document.platform.code(), document.currency.decimals, document.currency.rounding as u8]);
    rows.extend(document.currency.per_usd.0.to_le_bytes());
    rows.extend(blocked_end.to_le_bytes());
    for number in [*revision, terms.revision, terms.since, *callback_revision] {
        rows.extend(number.to_le_bytes());
    }
    rows.push(*outbox_shards);
    let most_rewards = document.max_rewards_per_user_day.unwrap_or(NO_LIMIT);
    rows.extend(most_rewards.to_le_bytes());
    rows.extend([u8::from(*approved), u8::from(pub_key_hash.is_some())]);
    rows.extend(pub_key_hash.unwrap_or_default());
}
