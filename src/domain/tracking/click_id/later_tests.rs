//! Click ids and records of a later release: the sender retries until the release is everywhere.

use super::{
    OpenError::UnknownKey,
    tests::{NONCE, full_click, ring, seal_short},
    *,
};

#[test]
fn a_record_of_a_later_version_is_retried_and_not_refused() {
    let keys = ring("1:seal:A");
    let (_, record) = seal_short(&keys, &full_click("x"), SHORT_MAX);
    let header = Header { version: 3, ..Header::read(&record).unwrap() };
    let newer = [&header.prefix(record.len()), &record[PREFIX_LEN..]].concat();
    let opened = open_record(&keys, &newer, header.app, header.shard, header.nonce);
    assert_eq!(opened, Err(UnknownKey));
}

#[test]
fn a_click_with_a_member_of_a_later_release_is_retried_and_not_refused() {
    let keys = ring("1:seal:A");
    let whole = Click { gaid: None, idfa: None, custom: Default::default(), placement: None, ..full_click("") };
    let mut packed = Vec::new();
    click_codec::pack(&whole, &mut packed);
    // The ninth optional text is present.
    packed.splice(..1, [0x80, 0x02]);
    let total = PREFIX_LEN + packed.len() + TAG_LEN;
    let header = Header { version: WHOLE, key_id: 1, app: whole.app, shard: whole.shard, nonce: NONCE };
    let prefix = header.prefix(total);
    let tag = keys.sealing().cipher().encrypt_inout_detached(
        &NONCE.into(),
        &prefix[..HEADER_LEN],
        packed.as_mut_slice().into(),
    );
    let id = [&prefix[..], &packed, &tag.unwrap()].concat();
    assert_eq!(open(&keys, &URL_SAFE_NO_PAD.encode(id)), Err(UnknownKey));
}
