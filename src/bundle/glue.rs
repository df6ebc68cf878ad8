//! Writes the glue between JavaScript and a Worker's compiled module: `glue MODULE.wasm OUT_DIR`.
//!
//! The command `wasm-bindgen` would do the same, but it compiles another hundred crates for its test runner, which takes as
//! long as a Worker.

use std::{env, error::Error};

use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [module, out_dir] = arguments.as_slice() else {
        return Err("usage: glue MODULE.wasm OUT_DIR".into());
    };
    Bindgen::new()
        .input_path(module)
        .out_name("index")
        .module(true)?
        .typescript(false)
        // Names are a tenth of the bytes that an isolate loads, and a panic's message has its file and line anyway.
        .remove_name_section(true)
        // After an abort, the next call starts WebAssembly again.
        .reset_state_function(true)
        .force_enable_abort_handler(true)
        .generate(out_dir)?;
    Ok(())
}
