//! libFuzzer's entry to `signpost_fuzz::facts::ndjson`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| signpost_fuzz::facts::ndjson(input));
