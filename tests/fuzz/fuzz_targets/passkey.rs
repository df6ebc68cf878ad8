//! libFuzzer's entry to `signpost_fuzz::accounts::passkey`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| signpost_fuzz::accounts::passkey(input));
