//! Sends an object's size to the operator's `attention`, where [`size`](crate::objects::activity::attention::size)
//! stores it.

use std::time::Duration;

use contract::attention::{self, ObjectSize};
use platform::{Clock, ObjectCall, ObjectStorage, log, object_shell::ObjectShell};

const TIMEOUT: Duration = Duration::from_secs(10);

/// Sends the size of an object and the figures of its isolate, if they are due. An object may not know its own name if
/// its alarm started it. It then sends no size.
pub async fn tell<D: ObjectStorage, R: Clock + ObjectCall>(shell: &ObjectShell<D, R>, name: Option<&str>) {
    #[cfg(target_arch = "wasm32")]
    platform::isolate_metrics::tell_if_due(shell.runtime()).await;
    let Some((name, bytes)) = name.and_then(|name| Some((name, shell.size_to_tell()?))) else {
        return;
    };
    let size = ObjectSize { source: name.to_owned(), at_ms: shell.runtime().now_ms(), bytes };
    let told = shell.runtime().call(&attention::address(), size, TIMEOUT).await;
    if let Err(error) = told {
        log::warn("attention", format_args!("the size of {name} did not reach the attention object: {error}"));
    }
}
