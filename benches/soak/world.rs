//! The state before the load: a generated catalog of the size that `make bench` uses, and publishers with an app, an
//! offer, callbacks, facts and report keys each.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Mutex,
};

use serde_json::{Value, json};

use crate::{
    book::{Book, Clicks, Publishers, Sums},
    harness::{ReportKey, Setup, Signpost, callback, default_setting, now_ms},
    large_catalog,
};
use domain::{
    callbacks::shards,
    model::{AppId, Country, time::UtcDay},
    tracking::{click::Click, keys::KeyRing},
};

pub const OFFERS: usize = 2_000;
pub const APPS: usize = 50;
/// The number of publishers with all of this, and of report keys for each.
pub const WALLS: usize = 8;
const KEYS: usize = 12;
/// Days of facts before today, and rows of each. The load replaces the first half of the days, one day for each
/// client.
pub const DAYS: usize = 40;
pub const ROWS: usize = 500;
/// Offers whose documents the operator puts repeatedly.
pub const EDITED: usize = 20;
/// Daily caps, low enough that some requests are refused in the end.
const CAP: u32 = 300;
const CLICK_CAP: u32 = 3_000;

/// An app with a callback and three offers: one without caps, one with a conversion cap, one with a click cap.
pub struct Seller {
    pub id: String,
    pub app: AppId,
    pub token: String,
    /// The revisions of the terms of each offer and the app.
    pub terms: BTreeMap<String, (i64, i64)>,
}

impl Seller {
    pub fn capped(&self) -> String {
        format!("{}-capped", self.id)
    }

    pub fn click_capped(&self) -> String {
        format!("{}-clicks", self.id)
    }
}

pub struct World {
    pub signpost: Signpost,
    pub publishers: Publishers,
    pub sellers: Vec<Seller>,
    pub pub_key: String,
    pub keys: KeyRing,
    /// Report keys of the sellers, each with the time when it may be used again, the earliest first.
    pub report_keys: Mutex<VecDeque<(i64, ReportKey)>>,
    pub edited: Vec<(String, Value)>,
    pub today: UtcDay,
    /// The loaded facts of days that the load does not change, for each seller.
    pub loaded: Sums,
    pub book: Book,
}

impl World {
    pub fn load() -> Self {
        // The load is plain workerd's, beyond its limit, which the fair queue is for.
        let signpost = Setup::new()
            .var("FAIR_QUEUE", "true")
            .var("CALLBACK_SCHEDULE", "0,1,2,4,8,15,30,60")
            .with_inspector()
            .start();
        let publishers = Publishers::start();
        let catalog = large_catalog::catalog(OFFERS, APPS);
        signpost.import(&catalog).expect(200);
        let today = UtcDay::of_ms(now_ms());
        let (mut sellers, mut report_keys, mut loaded) = (Vec::new(), VecDeque::new(), Sums::default());
        for n in 0..WALLS {
            let id = format!("seller-{n}");
            let wall = signpost.unpublished_offer_wall(&id, &format!("7960000{n}"), None);
            let to = format!("{}/cb", publishers.receiver.base());
            wall.put_app(&json!({"callback": callback(&to, if n % 2 == 0 { "GET" } else { "POST" })}));
            let mut seller = Seller {
                app: AppId::parse(&wall.app).expect("an app"),
                token: wall.token.clone(),
                terms: BTreeMap::new(),
                id,
            };
            let cap = |limit: u32| json!({"dur": "DAILY", "lim": limit});
            wall.put_offer_as(&seller.capped(), &json!({"conversion_cap": cap(CAP)}));
            wall.put_offer_as(&seller.click_capped(), &json!({"click_cap": cap(CLICK_CAP)}));
            for offer in [seller.id.clone(), seller.capped(), seller.click_capped()] {
                let terms = wall.terms_of(&offer);
                seller.terms.insert(offer, terms);
            }
            let publisher = signpost.existing_publisher(&seller.id);
            let date = |day: usize| date(today, day).to_string();
            publisher.put_days(DAYS, date, |day| csv(None, day, ROWS).0, |_| ROWS);
            for _ in 0..KEYS {
                report_keys.push_back((0, publisher.create_key("soak")));
            }
            sellers.push(seller);
        }
        for day in DAYS / 2..DAYS {
            loaded = loaded.plus(csv(None, day, ROWS).1);
        }
        let pub_key = signpost.issue_pub_key(large_catalog::PUBLISHER);
        signpost.refresh();
        let lines = catalog.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let offers = lines.filter(|line| line["kind"] == "offer").take(EDITED);
        let edited = offers.map(|mut offer| {
            let id = offer["id"].as_str().expect("an id").to_owned();
            let document = offer.as_object_mut().expect("a document");
            document.remove("kind");
            document.remove("id");
            (id, offer)
        });
        let mut book = Book::default();
        for id in sellers.iter().map(|seller| seller.id.as_str()).chain([large_catalog::PUBLISHER]) {
            book.clicks.insert(id.to_owned(), Clicks::default());
        }
        Self {
            edited: edited.collect(),
            publishers,
            sellers,
            pub_key,
            keys: KeyRing::parse(&default_setting("CLICK_KEYS")).expect("keys"),
            report_keys: Mutex::new(report_keys),
            today,
            loaded,
            book,
            signpost,
        }
    }

    /// A click on a seller's offer, made without a request.
    pub fn click<'c>(&self, seller: &Seller, offer: &'c str, user_id: &'c str, at_ms: i64) -> Click<'c> {
        let (offer_terms, app_terms) = seller.terms[offer];
        Click {
            offer: offer.into(),
            goal: format!("{offer}-1").into(),
            app: seller.app,
            shard: shards::of_user(user_id, shards::DEFAULT_COUNT),
            offer_terms,
            app_terms,
            user_id: user_id.into(),
            gaid: None,
            idfa: None,
            custom: [Some("level-7".into()), None, None, None, None],
            placement: Some("wall".into()),
            country: Country::parse("DE"),
            clicked_at_ms: at_ms,
        }
    }
}

/// The n-th day before today.
pub fn date(today: UtcDay, n: usize) -> UtcDay {
    today.minus(i32::try_from(n).expect("a day") + 1)
}

/// Generated facts with their sums; each row has the date if there is one.
pub fn csv(date: Option<UtcDay>, seed: usize, rows: usize) -> (String, Sums) {
    let mut text = String::with_capacity(rows * 80 + 200);
    if date.is_some() {
        text.push_str("date,");
    }
    text.push_str(
        "app_id,country,placement_id,ad_tag,demand_source,sdk_v,ad_requests,ad_responses,impressions,clicks,revenue\n",
    );
    let mut sums = Sums::default();
    for row in 0..rows {
        let n = i64::try_from(seed * 7_919 + row).expect("a number");
        let (impressions, clicks, micros) = (n % 997, n % 13, n % 3_001 * 7);
        if let Some(date) = date {
            text.push_str(&format!("{date},"));
        }
        text.push_str(&format!(
            "{},{},place-{},tag-{},source-{},6.{},{},{},{impressions},{clicks},{}.{:06}\n",
            30_000_000 + row % 7,
            ["DE", "FR", "US", "JP"][row % 4],
            row % 11,
            row % 5,
            row % 3,
            row % 2,
            impressions * 2,
            impressions + 1,
            micros / 1_000_000,
            micros % 1_000_000,
        ));
        sums = sums.plus(Sums { impressions, clicks, micros });
    }
    (text, sums)
}
