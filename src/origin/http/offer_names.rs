//! Adds the names of offers and goals to their ids in answers that people read.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

use super::{
    Refusal, RequestContext,
    calls::{SPARE_TIMEOUT, read_reply},
};
use contract::{
    catalog::{COMMAND_PATH, OfferNames, address},
    operation::OperatorReply,
};
use platform::ObjectCall;

/// The JSON key of the id, the JSON key of the name, and the names by id.
type Named<'n> = (&'static str, &'static str, &'n BTreeMap<String, String>);

#[derive(Default, Deserialize)]
struct Names {
    offers: BTreeMap<String, String>,
    goals: BTreeMap<String, String>,
}

impl Names {
    /// Reads the names from the catalog. If the catalog does not answer, there are no names and people see the ids.
    async fn read(context: &RequestContext, offer_ids: BTreeSet<String>) -> Self {
        if offer_ids.is_empty() {
            return Self::default();
        }
        let (catalog, names) = (address(COMMAND_PATH), OfferNames { offer_ids });
        let reply = context.workers.call(&catalog, names, SPARE_TIMEOUT).await;
        reply.ok().and_then(|reply| read_reply(&reply).ok()).unwrap_or_default()
    }

    fn members(&self) -> [Named<'_>; 2] {
        [("offer_id", "offer_name", &self.offers), ("goal_id", "goal_name", &self.goals)]
    }
}

/// Adds the names of offers and goals to a list of rewards.
pub async fn add(context: &RequestContext, rewards: &mut [Value]) {
    let text = |reward: &Value, name: &str| reward.get(name)?.as_str().map(str::to_owned);
    let offers = rewards.iter().filter_map(|reward| text(reward, "offer_id"));
    let names = Names::read(context, offers.collect()).await;
    for reward in rewards {
        for (id, name, names) in names.members() {
            let known = text(reward, id).and_then(|id| names.get(&id).cloned());
            if let (Some(members), Some(known)) = (reward.as_object_mut(), known) {
                members.insert(name.into(), known.into());
            }
        }
    }
}

/// Returns a reward or its story with the names of the offer and the goal. The other fields are passed on unchanged.
pub async fn add_to_one(
    context: &RequestContext,
    story: &OperatorReply,
) -> Result<BTreeMap<String, Box<RawValue>>, Refusal> {
    let mut story: BTreeMap<String, Box<RawValue>> = read_reply(story)?;
    let text = |story: &BTreeMap<String, Box<RawValue>>, name: &str| {
        serde_json::from_str::<String>(story.get(name)?.get()).ok()
    };
    let offers = text(&story, "offer_id").into_iter().collect();
    let names = Names::read(context, offers).await;
    for (id, name, names) in names.members() {
        let known = text(&story, id).and_then(|id| names.get(&id).cloned());
        if let Some(raw) = known.and_then(|known| to_raw_value(&known).ok()) {
            story.insert(name.into(), raw);
        }
    }
    Ok(story)
}
