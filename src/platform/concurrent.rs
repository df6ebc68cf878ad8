//! Work on many things at a time, as many as one invocation has connections.

use futures_util::{StreamExt, TryStreamExt, stream};

use crate::CONNECTIONS;

/// Works on all. The results are in the order in which the work is done.
pub async fn each<I: IntoIterator, W: Future>(items: I, work: impl FnMut(I::Item) -> W) -> Vec<W::Output> {
    let works = stream::iter(items).map(work);
    works.buffer_unordered(CONNECTIONS).collect().await
}

/// The same, until the first error.
pub async fn try_each<I: IntoIterator, W, T, E>(items: I, work: impl FnMut(I::Item) -> W) -> Result<Vec<T>, E>
where
    W: Future<Output = Result<T, E>>,
{
    let works = stream::iter(items).map(work);
    works.buffer_unordered(CONNECTIONS).try_collect().await
}
