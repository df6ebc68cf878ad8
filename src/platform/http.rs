//! HTTP requests and answers, for both Workers.

pub mod address;
#[cfg(target_arch = "wasm32")]
pub mod answer;
#[cfg(target_arch = "wasm32")]
pub mod body;
#[cfg(target_arch = "wasm32")]
pub mod entry;
pub mod etag;
#[cfg(target_arch = "wasm32")]
pub mod fixed_length;
pub mod hosts;
#[cfg(target_arch = "wasm32")]
pub mod request_log;
pub mod router;
pub mod traffic;

#[cfg(target_arch = "wasm32")]
pub use answer::Answer;
#[cfg(target_arch = "wasm32")]
pub use body::header;
