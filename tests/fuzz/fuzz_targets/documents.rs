//! libFuzzer's entry to `signpost_fuzz::documents::line`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| signpost_fuzz::documents::line(input));
