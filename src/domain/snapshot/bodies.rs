//! The bodies of offers: their JSON (docs/SPEC.md, "Offers response"), rendered when an offer is written. A body has
//! cuts, the positions at which a page inserts the app's values (amounts in the app's currency, tracking URLs). Metrics
//! and caps are appended. So rendering a page only copies bytes and writes numbers.
//!
//! Bodies are published in chunks whose keys are hashes of their contents, so only changed chunks are written to KV.

use serde::Serialize;
use serde_json::json;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::{
    columns::{Fields, Rows, Strings, columns},
    envelope::{Damage, Kind},
};
use crate::{
    catalog::{Offer, plain_text::plain_text},
    model::{
        MicroUsd, OfferId,
        parts::{Span, join, split, to_u32},
    },
};

/// Bytes of a body's cuts: four positions in its text, `u32` each. They are the positions of the offer's `inapp_pyt`,
/// of the tracking URLs, and of the start and the end of the first goal's id.
const CUTS: usize = 16;
/// Bytes of a goal: the position of its `inapp_pyt`, `u32`, and its payout in micro-USD, `i64`.
const GOAL: usize = 12;

columns! {
    /// The bodies of a chunk: each is a row of three columns.
    ChunkColumns { texts, cuts, goals, }
}

/// Renders an offer's body, which is stored with the offer. The body consists of joined columns: the JSON without the
/// inserted values and without the end (metrics, caps, closing brace), the cuts, and the goals. `upd_ts_s` is the time
/// of the offer's last change, in UNIX seconds.
pub fn render_body(id: &OfferId, offer: &Offer, upd_ts_s: i64) -> Vec<u8> {
    let goals = offer.goals_in_order();
    let mut json = Json("{".to_owned());
    json.member("id", id);
    json.member("upd_ts", &upd_ts_s);
    json.member("off_type", &offer.off_type);
    json.member("s_id", &offer.s_id);
    json.member("name", &plain_text(&offer.name));
    json.member("lp_url", &offer.lp_url);
    json.payout(MicroUsd(goals.iter().map(|goal| goal.payout_usd.0).sum()));
    let inapp_at = json.position();
    json.member("crtvs", &json!({ "ic_url": offer.ic_url }));
    json.member("desc", &json!({ "raw": plain_text(&offer.desc) }));
    json.member("ctg", &offer.ctg);

    json.0.push_str(",\"gls\":[");
    let mut first_goal = None;
    let mut goal_rows = Vec::with_capacity(goals.len() * GOAL);
    for goal in goals {
        json.0.push_str(if first_goal.is_none() { "{" } else { ",{" });
        json.member("id", &goal.id);
        // The id's characters are never escaped, and a quote follows them.
        let id_end = json.position().saturating_sub(1);
        first_goal.get_or_insert((id_end.saturating_sub(to_u32(goal.id.as_str().len())), id_end));
        json.member("gl_val", &goal.gl_val);
        json.member("ttl", &plain_text(&goal.ttl));
        json.member("instr", &plain_text(&goal.instr));
        json.payout(goal.payout_usd);
        goal_rows.extend_from_slice(&json.position().to_le_bytes());
        goal_rows.extend_from_slice(&goal.payout_usd.0.to_le_bytes());
        json.member("ord", &goal.ord);
        json.0.push('}');
    }
    json.0.push(']');

    let tracking_at = json.position();
    json.member("geo_tgt", &offer.geo_tgt);
    json.member("os", &offer.os);
    let (goal_start, goal_end) = first_goal.unwrap_or_default();
    let cuts = [inapp_at, tracking_at, goal_start, goal_end].map(u32::to_le_bytes).concat();
    join(&[json.0.as_bytes(), &cuts, &goal_rows])
}

/// The hash that identifies a body.
pub fn body_hash(body: &[u8]) -> [u8; 16] {
    xxh3_128(body).to_le_bytes()
}

/// The key of a chunk whose bodies have these hashes, in this order: 32 hexadecimal digits.
pub fn chunk_key<'a>(body_hashes: impl IntoIterator<Item = &'a [u8; 16]>) -> String {
    let mut hash = Xxh3::new();
    hash.update(&[Kind::Bodies.format()]);
    body_hashes.into_iter().for_each(|body_hash| hash.update(body_hash));
    format!("{:032x}", hash.digest128())
}

/// Builds the KV value of a chunk from bodies that [`render_body`] returned.
pub fn build_chunk<B: AsRef<[u8]>>(bodies: impl IntoIterator<Item = B>) -> Result<Vec<u8>, Damage> {
    let bodies: Vec<B> = bodies.into_iter().collect();
    let (mut texts, mut cuts, mut goals) = (Vec::new(), Vec::new(), Vec::new());
    for body in &bodies {
        let body = body.as_ref();
        let [text, body_cuts, body_goals] = split(body, 0).ok_or(Damage::Corrupt)?.map(|span| span.of(body));
        texts.push(text);
        cuts.extend_from_slice(body_cuts.first_chunk::<CUTS>().ok_or(Damage::Corrupt)?);
        goals.push(body_goals);
    }
    let chunk = ChunkColumns { texts: Strings::column(texts), cuts, goals: Strings::column(goals) };
    Ok(chunk.into_value(Kind::Bodies))
}

/// A JSON object that is being written.
struct Json(String);

impl Json {
    fn member(&mut self, name: &str, value: &impl Serialize) {
        if !self.0.ends_with('{') {
            self.0.push(',');
        }
        // Serializing plain values in memory cannot fail.
        let value = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
        self.0.extend(["\"", name, "\":", &value]);
    }

    fn payout(&mut self, amount: MicroUsd) {
        self.0.push_str(",\"pyt\":{\"cur\":\"USD\",\"amt\":");
        amount.write_usd(&mut self.0);
        self.0.push('}');
    }

    fn position(&self) -> u32 {
        to_u32(self.0.len())
    }
}

/// A chunk of bodies, read in place.
#[derive(Debug)]
pub struct Chunk {
    bytes: Vec<u8>,
    columns: ChunkColumns<Span>,
}

impl Chunk {
    /// Opens a KV value, unless it is damaged, has another kind or has an unknown format.
    pub fn open(bytes: Vec<u8>) -> Result<Self, Damage> {
        let columns = ChunkColumns::open(&bytes, Kind::Bodies)?;
        Ok(Self { bytes, columns })
    }

    /// The chunk's size in memory, in bytes.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The body at an index in the chunk.
    pub fn body(&self, slot: u32) -> Option<Body<'_>> {
        let ChunkColumns { texts, cuts, goals } = self.columns;
        let text = Strings::new(texts.of(&self.bytes)).bytes(slot)?;
        let mut cuts = Fields(Rows::<CUTS>::new(cuts.of(&self.bytes)).get(slot)?);
        let goals = Strings::new(goals.of(&self.bytes)).bytes(slot)?;
        let mut cut = || cuts.u32().and_then(|at| usize::try_from(at).ok());
        let (inapp_at, tracking_at, goal_start, goal_end) = (cut()?, cut()?, cut()?, cut()?);
        let first_goal = text.get(goal_start..goal_end)?;
        Some(Body { text, inapp_at, tracking_at, first_goal, goals: Rows::new(goals) })
    }
}

/// A body in a chunk.
#[derive(Clone, Copy, Debug)]
pub struct Body<'a> {
    text: &'a [u8],
    inapp_at: usize,
    tracking_at: usize,
    first_goal: &'a [u8],
    goals: Rows<'a, GOAL>,
}

/// A position in a body, named after the value that a page inserts there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut<'a> {
    /// The offer's `inapp_pyt`.
    OfferAmount,
    /// The `inapp_pyt` of the goal with this index.
    GoalAmount(usize),
    /// `trk_url` and `trk_url_base`, for the goal with this id.
    Tracking(&'a [u8]),
}

impl<'a> Body<'a> {
    /// The payouts of the offer's goals, in display order.
    pub fn payouts(&self) -> impl Iterator<Item = MicroUsd> {
        self.goals.iter().filter_map(goal_fields).map(|(_, payout)| payout)
    }

    /// Copies the body up to its metrics, and calls `fill` at each cut. `fill` must begin the members that it writes
    /// with a comma. Returns `None` if the cuts are invalid; a part of the body is then already written.
    pub fn splice(&self, out: &mut Vec<u8>, mut fill: impl FnMut(&mut Vec<u8>, Cut<'a>)) -> Option<()> {
        let mut copied = 0;
        let mut copy_to = |out: &mut Vec<u8>, at: usize| {
            out.extend_from_slice(self.text.get(copied..at)?);
            copied = at;
            Some(())
        };
        copy_to(out, self.inapp_at)?;
        fill(out, Cut::OfferAmount);
        for (index, goal) in self.goals.iter().enumerate() {
            copy_to(out, goal_fields(goal)?.0)?;
            fill(out, Cut::GoalAmount(index));
        }
        copy_to(out, self.tracking_at)?;
        fill(out, Cut::Tracking(self.first_goal));
        copy_to(out, self.text.len())
    }
}

/// The position of a goal's `inapp_pyt`, and its payout.
fn goal_fields(goal: &[u8; GOAL]) -> Option<(usize, MicroUsd)> {
    let mut fields = Fields(goal);
    Some((usize::try_from(fields.u32()?).ok()?, MicroUsd(fields.i64()?)))
}

#[cfg(test)]
mod tests;
