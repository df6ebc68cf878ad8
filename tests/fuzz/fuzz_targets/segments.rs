//! libFuzzer's entry to `signpost_fuzz::segments::image`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| signpost_fuzz::segments::image(input));
