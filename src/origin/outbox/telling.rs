//! What was paid and taken back, told to the publisher's ledger and to the offers' counters, in numbered batches.

use worker::Env;

use super::{
    about::{self, About},
    entries::TO_LEDGER,
    object_name,
    sending::PEER_TIMEOUT,
};
use crate::origin::{
    call::{broken, call},
    command::Applied,
    counters,
    database::DatabaseError,
    durable::DurableDatabase,
    forward::{Batch, Untold},
    forwarding, ledger,
};

/// Tells the ledger and the counters what they have not been told yet.
///
/// # Errors
/// What the database says.
pub async fn forward(env: &Env, db: &DurableDatabase) -> Result<(), DatabaseError> {
    let Some(about) = about::read(db)? else {
        return Ok(());
    };
    let source = object_name(about.app);
    while forwarding::forward(db, &source, async |batch| tell(env, &about, &source, batch).await).await? {}
    Ok(())
}

/// Tells whom a batch is for.
async fn tell(env: &Env, about: &About, source: &str, batch: &Batch) -> Result<(), Untold> {
    if batch.destination == TO_LEDGER {
        let publisher = about.publisher.as_ref();
        let publisher =
            publisher.ok_or_else(|| Untold::Unanswered("the publisher is not known yet".into()))?;
        let command = batch.to_ledger(source).map_err(Untold::Refused)?;
        let ledgers = env.durable_object(ledger::BINDING).map_err(broken)?;
        ledger::client::add(&ledgers, publisher, &command).await?;
    } else {
        let command = batch.to_counters(source).map_err(Untold::Refused)?;
        let objects = env.durable_object(counters::BINDING).map_err(broken)?;
        let _: Applied = call(&objects, &batch.destination, &command, PEER_TIMEOUT).await?;
    }
    Ok(())
}
