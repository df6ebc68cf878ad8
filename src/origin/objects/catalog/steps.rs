//! Long work in steps. An object has one thread, so it answers other callers between two steps.

use std::time::Duration;

use platform::{Result, Sleep};

/// Repeats a step until it returns false. A step should take at most some tens of milliseconds.
pub async fn in_steps(runtime: &impl Sleep, mut step: impl FnMut() -> Result<bool>) -> Result {
    while step()? {
        runtime.sleep(Duration::ZERO).await;
    }
    Ok(())
}
