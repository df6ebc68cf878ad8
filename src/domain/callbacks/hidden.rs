//! A value that debug output does not show.

use std::fmt;

/// A value that debug output does not show, because settings may be logged.
#[derive(Clone)]
pub struct Hidden<T>(pub T);

impl<T> fmt::Debug for Hidden<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hidden")
    }
}
