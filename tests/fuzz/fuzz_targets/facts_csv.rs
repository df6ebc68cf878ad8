//! libFuzzer's entry to `signpost_fuzz::facts::csv`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| signpost_fuzz::facts::csv(input));
