//! libFuzzer's entry to `signpost_fuzz::snapshots::value`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| signpost_fuzz::snapshots::value(input));
