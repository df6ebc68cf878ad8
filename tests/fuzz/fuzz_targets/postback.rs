//! libFuzzer's entry to `signpost_fuzz::conversions::postback`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| signpost_fuzz::conversions::postback(input));
