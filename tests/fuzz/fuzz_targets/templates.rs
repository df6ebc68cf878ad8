//! libFuzzer's entry to `signpost_fuzz::callbacks::templates`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| signpost_fuzz::callbacks::templates(input));
