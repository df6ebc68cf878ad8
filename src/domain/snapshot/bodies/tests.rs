use proptest::prelude::*;

use super::*;
use crate::{
    catalog::{Goal, offer::GeoTarget},
    model::Country,
    snapshot::sample::{damaged, goal, id, offer},
};

/// A body with a label at each cut.
fn spliced(body: &Body<'_>) -> Option<String> {
    let mut out = Vec::new();
    body.splice(&mut out, |out, cut| {
        let cut = match cut {
            Cut::OfferAmount => "⟨offer⟩".to_owned(),
            Cut::GoalAmount(index) => format!("⟨goal {index}⟩"),
            Cut::Tracking(goal) => format!("⟨track {}⟩", std::str::from_utf8(goal).unwrap_or("?")),
        };
        out.extend_from_slice(cut.as_bytes());
    })?;
    Some(String::from_utf8_lossy(&out).into_owned())
}

fn opened<B: AsRef<[u8]>>(bodies: &[B]) -> Chunk {
    Chunk::open(build_chunk(bodies).unwrap()).unwrap()
}

#[test]
fn a_body_has_the_specifications_members_in_order_with_cuts() {
    let [de, us] = ["DE", "US"].map(|code| Country::parse(code).unwrap());
    let offer = Offer {
        geo_tgt: GeoTarget { include: vec![us, de], exclude: vec![] },
        ..offer(vec![goal("g2", 2_500_000, 2), Goal { gl_val: Some("lvl".into()), ..goal("g1", 350_000, 1) }])
    };
    let body = render_body(&id("23817"), &offer, 1_790_000_000);
    let expected = concat!(
        r#"{"id":"23817","upd_ts":1790000000,"off_type":"CPE","s_id":"com.example.app","name":"App & Co","#,
        r#""lp_url":"https://store.example/app?a=1&b=2","pyt":{"cur":"USD","amt":2.85}⟨offer⟩,"#,
        r#""crtvs":{"ic_url":"https://cdn.example/icon.png"},"desc":{"raw":"Play\nand \"win\""},"#,
        r#""ctg":["MULTI_REWARD","GAMING"],"gls":["#,
        r#"{"id":"g1","gl_val":"lvl","ttl":"Goal g1","instr":"1. Install\n2. Open","#,
        r#""pyt":{"cur":"USD","amt":0.35}⟨goal 0⟩,"ord":1},"#,
        r#"{"id":"g2","gl_val":null,"ttl":"Goal g2","instr":"1. Install\n2. Open","#,
        r#""pyt":{"cur":"USD","amt":2.5}⟨goal 1⟩,"ord":2}]⟨track g1⟩,"#,
        r#""geo_tgt":{"include":["US","DE"],"exclude":[]},"os":"android""#,
    );
    let chunk = opened(&[body]);
    let body = chunk.body(0).unwrap();
    assert_eq!(spliced(&body).as_deref(), Some(expected));
    assert_eq!(body.payouts().collect::<Vec<_>>(), [MicroUsd(350_000), MicroUsd(2_500_000)]);
}

#[test]
fn goals_of_the_same_ord_are_shown_by_id() {
    let offer = offer(vec![goal("b", 1, 1), goal("c", 2, 0), goal("a", 3, 1)]);
    let chunk = opened(&[render_body(&id("1"), &offer, 0)]);
    let body = chunk.body(0).unwrap();
    assert_eq!(body.payouts().map(|payout| payout.0).collect::<Vec<_>>(), [2, 3, 1]);
    assert!(spliced(&body).unwrap().contains("⟨track c⟩"));
}

#[test]
fn each_body_is_read_back_from_its_chunk() {
    let bodies: Vec<_> = ["1", "22", "333"]
        .iter()
        .map(|text| render_body(&id(text), &offer(vec![goal(text, 1_000_000, 1)]), 0))
        .collect();
    let chunk = opened(&bodies);
    for (slot, body) in (0..).zip(&bodies) {
        let alone = opened(&[body]);
        assert_eq!(spliced(&chunk.body(slot).unwrap()), spliced(&alone.body(0).unwrap()));
    }
    assert!(chunk.body(3).is_none() && chunk.body(u32::MAX).is_none());
    assert!(opened::<&[u8]>(&[]).body(0).is_none());
}

#[test]
fn a_chunk_is_not_built_from_invalid_bodies() {
    assert_eq!(build_chunk([b"no columns"]), Err(Damage::Corrupt));
    assert_eq!(build_chunk([b""]), Err(Damage::Corrupt));
}

#[test]
fn the_key_of_a_chunk_depends_on_its_bodies_and_their_order() {
    let [one, two] = [[1; 16], [2; 16]];
    assert_eq!(chunk_key([&one, &two]), chunk_key([&one, &two]));
    assert_ne!(chunk_key([&one, &two]), chunk_key([&two, &one]));
    assert_ne!(chunk_key([&one]), chunk_key([&one, &two]));
    assert_eq!(chunk_key([&one]).len(), 32);
}

fn valid_chunk() -> Vec<u8> {
    let body = |text| render_body(&id(text), &offer(vec![goal("g", 1, 1), goal("h", 2, 2)]), 0);
    build_chunk(["1", "2", "3"].map(body)).unwrap()
}

proptest! {
    #[test]
    fn a_damaged_chunk_never_panics(value in damaged(&valid_chunk(), Kind::Bodies), slot: u32) {
        if let Ok(chunk) = Chunk::open(value) {
            for body in [0, 1, 2, 3, slot].iter().filter_map(|&slot| chunk.body(slot)) {
                let _ = (spliced(&body), body.payouts().count());
            }
        }
    }

    #[test]
    fn random_bytes_never_panic(noise in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = (build_chunk([&noise]), Chunk::open(noise));
    }
}
