//! Writes the glue between JavaScript and a Worker's compiled module: `glue MODULE.wasm OUT_DIR`.
//!
//! The command `wasm-bindgen` would do the same, but it compiles another hundred crates for its test runner, which takes as
//! long as a Worker.

use std::{env, error::Error};

use wasm_bindgen_cli_support::{Bindgen, Output};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [module, out_dir] = arguments.as_slice() else {
        return Err("usage: glue MODULE.wasm OUT_DIR".into());
    };
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(module)
        .out_name("index")
        .module(true)?
        .typescript(false)
        // After an abort, the next call starts WebAssembly again.
        .reset_state_function(true)
        .force_enable_abort_handler(true);
    let mut output = bindgen.generate_output()?;
    for export in unused(&output) {
        output.wasm_mut().exports.remove(export)?;
    }
    output.emit(out_dir)?;
    Ok(())
}

/// Lists the exports of classes that JavaScript neither constructs nor gets objects of. Each module exports all classes
/// of `worker` and its crates. The functions that only they call are 1 % of the edge.
fn unused(output: &Output) -> Vec<String> {
    let glue = output.js().to_lowercase();
    let names = || output.wasm().exports.iter().map(|export| &export.name);
    let classes: Vec<&str> = names()
        .filter_map(|name| name.strip_prefix("__wbg_")?.strip_suffix("_free"))
        .filter(|class| {
            let sources = [format!("wasm.{class}_new("), format!("{class}.__wrap(")];
            !sources.iter().any(|source| glue.contains(source))
        })
        .collect();
    let is_unused = |name: &&String| {
        let member = ["__wbg_get_", "__wbg_set_", "__wbg_"]
            .into_iter()
            .find_map(|prefix| name.strip_prefix(prefix));
        let class = member.unwrap_or(name).split('_').next();
        class.is_some_and(|class| classes.contains(&class))
    };
    names().filter(is_unused).cloned().collect()
}
