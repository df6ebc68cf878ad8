//! Converts `openapi.yaml`, which people read and write, into the JSON that `GET /openapi.json` serves.

use std::{env, error::Error, fs, path::Path};

const DOCUMENT: &str = "../../openapi.yaml";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={DOCUMENT}");
    println!("cargo:rerun-if-changed=build.rs");
    let document: serde_json::Value = yaml_serde::from_str(&fs::read_to_string(DOCUMENT)?)?;
    let to = Path::new(&env::var("OUT_DIR")?).join("openapi.json");
    Ok(fs::write(to, document.to_string())?)
}
