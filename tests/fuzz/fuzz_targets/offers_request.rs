//! libFuzzer's entry to `signpost_fuzz::offers::request`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| signpost_fuzz::offers::request(input));
