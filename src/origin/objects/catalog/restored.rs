//! A catalog that was restored from a copy replays its lost changes. The changes keep their original times, so that
//! revisions and terms get the same numbers. Then the catalog publishes everything.

use super::{
    Context, callback_sync, cap_sync, entered_terms, import::staged_document, import_claims, lasting::Lasting,
    own_apps, publication, resource_tables::WriteSource, resources, tokens,
};
use crate::delivery::register::Restore;
use contract::attention::Doubt;
use domain::model::PublisherId;
use platform::{Database, DbResult, Result};

/// A restored catalog. `W` carries out a change in a context with its original time.
pub struct RestoredCatalog<W>(pub W);

impl<W> Restore for RestoredCatalog<W>
where
    W: Fn(i64, &mut dyn FnMut(&Context<'_>) -> Result) -> Result,
{
    type Entry = Lasting;

    fn begin(&self, db: &impl Database, now_ms: i64) -> DbResult {
        publication::publish_all(db, now_ms)
    }

    fn apply(&self, db: &impl Database, at_ms: i64, entry: Lasting) -> Result {
        (self.0)(at_ms, &mut |context| match &entry {
            Lasting::Put(resource, id, document, is_put) => {
                import_claims::drop_line(db, *resource, id)?;
                let document = staged_document(context, *resource, id, &document.0)?;
                let source = if *is_put { WriteSource::Put } else { WriteSource::Import };
                resources::put(db, context, source, *resource, id, &document).map(drop)
            }
            Lasting::PubKey(key) => tokens::store_pub_key(db, context, key),
            Lasting::OwnAppKey(key) => Ok(own_apps::store_key(db, context, key)?),
            Lasting::Tokens(tokens) => tokens::store_tokens(db, context, tokens),
            Lasting::EnteredTerms(command) => entered_terms::store(db, context, command).map(drop),
            Lasting::Outbox(app, shard) => Ok(callback_sync::record_outbox(db, context, *app, *shard)?),
            Lasting::OfferOutbox(offer, app, shard) => Ok(cap_sync::record_outbox(db, context, offer, *app, *shard)?),
        })
    }

    fn doubts(&self, _db: &impl Database, _lost: &[&Lasting]) -> DbResult<(Option<PublisherId>, Vec<Doubt>)> {
        Ok((None, vec![Doubt::new("catalog", "catalog_restored")]))
    }
}
