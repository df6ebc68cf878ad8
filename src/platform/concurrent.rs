//! Runs work concurrently, up to the number of connections of one invocation.

use futures_util::{StreamExt, TryStreamExt, stream};

use crate::CONNECTIONS;

/// Calls `work` for all items and awaits the results. The results are in the order of completion.
pub async fn each<I: IntoIterator, W: Future>(items: I, work: impl FnMut(I::Item) -> W) -> Vec<W::Output> {
    let works = stream::iter(items).map(work);
    works.buffer_unordered(CONNECTIONS).collect().await
}

/// Like [`each`], but ends at the first error.
pub async fn try_each<I: IntoIterator, W, T, E>(items: I, work: impl FnMut(I::Item) -> W) -> Result<Vec<T>, E>
where
    W: Future<Output = Result<T, E>>,
{
    let works = stream::iter(items).map(work);
    works.buffer_unordered(CONNECTIONS).try_collect().await
}
