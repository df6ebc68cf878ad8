//! Long work in steps. An object does one thing at a time, so between two steps it answers its other callers.

use std::time::Duration;

use platform::{Result, Sleep};

/// Repeats a step until it returns that nothing is left. A step is to take a few ten milliseconds at most.
pub async fn in_steps(runtime: &impl Sleep, mut step: impl FnMut() -> Result<bool>) -> Result {
    while step()? {
        runtime.sleep(Duration::ZERO).await;
    }
    Ok(())
}
