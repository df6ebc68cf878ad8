//! libFuzzer's entry to `signpost_fuzz::clicks::id`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| signpost_fuzz::clicks::id(input));
