//! The tracking snapshot with all of its shards, as tests look at it.

use std::collections::BTreeMap;

use contract::kv::{self, Pointer};
use domain::{
    conversions::token::Token,
    model::AppId,
    snapshot::{
        envelope::checksum,
        tracking::{
            AdvertiserShard, AppShard, GoalShard, Manifest, Shard, ShardKind, Slot,
            apps::AppView,
            goals::{GoalView, OfferView},
            slots,
        },
    },
};
use origin::objects::catalog::tracking_slots;

use crate::{Catalog, service::Kv};

pub struct Tracking {
    as_of_ms: i64,
    advertisers: Vec<AdvertiserShard>,
    apps: Vec<AppShard>,
    goals: Vec<GoalShard>,
    /// Goals with the ids of their offers.
    offer_of: BTreeMap<String, String>,
}

impl Tracking {
    /// The shards that the tables make now.
    pub fn of_tables(catalog: &Catalog) -> Self {
        let rows = catalog.rows("SELECT id, offer_id FROM goals");
        let text = |row: &platform::database::Row, column| row.text(column).unwrap().to_owned();
        Self {
            as_of_ms: catalog.now(),
            advertisers: shards_of_tables(catalog),
            apps: shards_of_tables(catalog),
            goals: shards_of_tables(catalog),
            offer_of: rows.iter().map(|row| (text(row, 0), text(row, 1))).collect(),
        }
    }

    /// The shards in KV that the pointer's manifest names. Checks that each is there and intact.
    #[track_caller]
    pub fn of_kv(kv: &Kv, pointer: &Pointer) -> Self {
        let manifest = Manifest::open(pointer.manifest.clone()).unwrap();
        Self {
            as_of_ms: manifest.built_at_ms(),
            advertisers: shards_of_kv(kv, &manifest),
            apps: shards_of_kv(kv, &manifest),
            goals: shards_of_kv(kv, &manifest),
            offer_of: BTreeMap::new(),
        }
    }

    pub fn app(&self, id: AppId) -> Option<AppView<'_>> {
        self.shard_of(&self.apps, slots::hash_of_app(id)).app(id)
    }

    pub fn goal(&self, id: &str) -> Option<GoalView<'_>> {
        self.shard_of(&self.goals, slots::hash(id)).goal(id)
    }

    pub fn offer(&self, id: &str) -> Option<OfferView<'_>> {
        let goals = self.offer_of.iter().filter(|(_, offer)| *offer == id);
        goals.map(|(goal, _)| goal).find_map(|goal| Some(self.goal(goal)?.offer))
    }

    pub fn accepts(&self, token: &Token) -> bool {
        let hash = slots::hash(token.advertiser.as_str());
        self.shard_of(&self.advertisers, hash).accepts(token, self.as_of_ms)
    }

    /// How many shards of goals there are.
    pub fn goal_shards(&self) -> usize {
        self.goals.len()
    }

    fn shard_of<'s, S: Shard>(&self, shards: &'s [S], hash: u16) -> &'s S {
        let bits = u8::try_from(shards.len().trailing_zeros()).unwrap();
        &shards[usize::from(Slot::of(S::KIND, bits, hash).number)]
    }
}

fn shards_of_tables<S: Shard>(catalog: &Catalog) -> Vec<S> {
    let build = |slot| tracking_slots::build(&catalog.db, slot, catalog.now()).unwrap();
    // A slot is built only with the current number of bits. A slot that is too large doubles the slots.
    let bits = (0..=slots::MAX_BITS).find(|bits| {
        let slots = (0..1_u32 << bits).map(|number| slot(S::KIND, *bits, number));
        slots.into_iter().all(|slot| build(slot).is_some())
    });
    let bits = bits.unwrap();
    let shard = |number| {
        let slot = slot(S::KIND, bits, number);
        S::open(slot, build(slot).unwrap().bytes).unwrap()
    };
    (0..1 << bits).map(shard).collect()
}

fn slot(kind: ShardKind, bits: u8, number: u32) -> Slot {
    let number = u16::try_from(number).unwrap();
    Slot { kind, bits, number }
}

fn shards_of_kv<S: Shard>(kv: &Kv, manifest: &Manifest) -> Vec<S> {
    let open = |(slot, named)| {
        let value = kv.get(&kv::shard_key(S::KIND, named)).unwrap_or_else(|| panic!("no shard of {slot:?}"));
        assert_eq!(checksum(&value), Some(named));
        S::open(slot, value).unwrap()
    };
    manifest.slots(S::KIND).map(open).collect()
}
