//! Stores publishers, apps, advertisers and offers. A PUT replaces one of them.

use super::{
    Context, account_sync, apps, callback_sync, cap_sync, import_claims, lasting, listing_room,
    reads::{find, get},
    resource_tables::{Change, WriteSource, require_reference, table_of},
    revisions, sql, terms, tracking_slots, waiting,
};
use serde::Serialize;

use contract::{
    catalog::{Put, PutCondition, Resource},
    operation::OperatorReply,
};
use domain::{
    catalog::{
        Offer,
        advertiser::Advertiser,
        publisher::{PUBLISHER_CLOSED, Publisher},
    },
    conversions::terms::{OfferTerms, TermsInForce},
    model::{
        ApiError, AppId, Document, FieldError, GoalId, INVALID_FIELD, OfferId,
        document::{keep_unknown, tag},
    },
    offers::test_offers,
    snapshot::{bodies, envelope::Kind, tracking::slots},
};
use platform::{Database, DbResult, Failure, Result, Row, database::json, params};

/// Maximum length of an offer's body, in bytes. A chunk ends with the body that takes it to 1 MiB, and is one SQLite
/// value of at most 2 MB.
const MAX_BODY: usize = 768 << 10;

/// Maximum length of a stored document, in bytes: it is one SQLite value of at most 2 MB.
const MAX_DOCUMENT: usize = 1 << 20;

const CHANGED_MEANWHILE: ApiError =
    ApiError::new(412, "precondition_failed", "the resource was changed since you read it; read the resource again");
const EXISTS: ApiError = ApiError::new(412, "precondition_failed", "a resource with this id already exists");

/// Stores a resource that the operator puts, and returns it.
pub fn put_one(db: &impl Database, context: &Context<'_>, command: &Put) -> Result<OperatorReply> {
    let Put { resource, id, body, condition } = command;
    db.transaction(|| {
        let before = find(db, *resource, id)?;
        let with_secrets = apps::opened(db, context, *resource, id)?;
        put(db, context, WriteSource::Put, *resource, id, body)?;
        let after = get(db, *resource, id)?;
        // A PUT that changes nothing, not even a secret, is the retry of a call whose answer was lost, so its condition
        // is not checked.
        if before.as_ref() == Some(&after) && with_secrets == apps::opened(db, context, *resource, id)? {
            return Ok(after);
        }
        let version = before.map(|before| tag(&before.body));
        match (condition, version) {
            (Some(PutCondition::New), Some(_)) => Err(EXISTS.into()),
            (Some(PutCondition::Read(read)), version) if version.as_ref() != Some(read) => {
                Err(CHANGED_MEANWHILE.into())
            }
            _ => Ok(after),
        }
    })
}

/// Checks and stores a resource, within the caller's transaction. Returns the change, and the bytes by which the
/// listing may grow.
pub fn put(
    db: &impl Database,
    context: &Context<'_>,
    source: WriteSource,
    resource: Resource,
    id: &str,
    body: &str,
) -> Result<(Change, i64)> {
    if !resource.is_id(id) {
        let rule = match resource {
            Resource::App => "must be exactly 8 digits",
            _ => "must be 1 to 64 characters of A-Z, a-z, 0-9 and -",
        };
        return Err(INVALID_FIELD.with_message(format!("{}: {rule}", table_of(resource).id_member)).into());
    }
    if !context.is_repeat {
        refuse_reserved(db, resource, id)?;
    }
    if source == WriteSource::Put {
        import_claims::refuse_claimed(db, context, resource, id)?;
    }
    match resource {
        Resource::Publisher => {
            put_publisher(db, context, source, id, &context.read(body, Publisher::from_json)?).map(|change| (change, 0))
        }
        Resource::App => {
            let app = apps::read(db, context, id, body)?;
            apps::put(db, context, source, id, &app).map(|change| (change, 0))
        }
        Resource::Advertiser => put_advertiser(db, context, source, id, &context.read(body, Advertiser::from_json)?)
            .map(|change| (change, 0)),
        Resource::Offer => put_offer(db, context, source, id, &context.read(body, Offer::from_json)?),
    }
}

const RESERVED: &str = "must not begin with signpost-test, which is for test offers";

/// Refuses ids that the operator cannot create: the ids of Signpost's test offers and test advertiser, and the ids of
/// test apps, which publishers set up.
fn refuse_reserved(db: &impl Database, resource: Resource, id: &str) -> Result {
    let problem = match resource {
        Resource::App if AppId::parse(id).is_some_and(AppId::is_test) && find(db, resource, id)?.is_none() => {
            "must be below 99000000; higher ids are test apps, which publishers set up"
        }
        Resource::Offer | Resource::Advertiser if test_offers::is_reserved(id) => RESERVED,
        _ => return Ok(()),
    };
    Err(INVALID_FIELD.with_message(format!("{}: {problem}", table_of(resource).id_member)).into())
}

fn put_publisher(
    db: &impl Database,
    context: &Context<'_>,
    source: WriteSource,
    id: &str,
    publisher: &Publisher,
) -> Result<Change> {
    let stored = db.query_first(sql::GET_PUBLISHER_DOCUMENT, params![id])?;
    let document = to_store(stored.as_ref(), publisher)?;
    let was_closed = match &stored {
        Some(row) if row.text(0)? == document => return Ok(Change::Nothing),
        Some(row) => row.json::<Publisher>(0)?.closed,
        None => false,
    };
    if was_closed && !publisher.closed && !context.is_repeat {
        return Err(PUBLISHER_CLOSED.into());
    }
    let change = Change::of(stored.is_some(), false);
    if source.checked_import().is_some() {
        return Ok(change);
    }
    let revision = revisions::record(db, context.now_ms)?;
    tracking_slots::mark_apps_of(db, id, revision)?;
    waiting::note(db, context.now_ms, id, publisher, stored.is_none())?;
    let is_told = account_sync::enqueue(db, context.now_ms, id, publisher, revision)?;
    if is_told || publisher.closed != was_closed {
        callback_sync::enqueue_publisher(db, id, revision, context.now_ms)?;
    }
    db.execute(sql::PUT_PUBLISHER, params![id, document.as_str(), publisher.approved])?;
    lasting::add_put(db, context, source, Resource::Publisher, id, document)?;
    Ok(change)
}

fn put_advertiser(
    db: &impl Database,
    context: &Context<'_>,
    source: WriteSource,
    id: &str,
    advertiser: &Advertiser,
) -> Result<Change> {
    let (change, document) = change_of(db, sql::GET_ADVERTISER_DOCUMENT, id, advertiser)?;
    if change == Change::Nothing || source.checked_import().is_some() {
        return Ok(change);
    }
    let revision = revisions::record(db, context.now_ms)?;
    tracking_slots::mark_advertiser(db, id, revision)?;
    db.execute(sql::PUT_ADVERTISER, params![id, document.as_str(), slots::hash(id)])?;
    lasting::add_put(db, context, source, Resource::Advertiser, id, document)?;
    Ok(change)
}

fn put_offer(
    db: &impl Database,
    context: &Context<'_>,
    source: WriteSource,
    id: &str,
    offer: &Offer,
) -> Result<(Change, i64)> {
    let offer_id = OfferId::parse(id).ok_or_else(|| Failure::Internal("the offer id is invalid".into()))?;
    require_reference(db, source, Resource::Advertiser, "advertiser_id", offer.advertiser_id.as_str())?;
    let target = offer.target().map_err(ApiError::from)?;
    let stored = match db.query_first(sql::GET_STORED_OFFER, params![id])? {
        Some(row) => StoredOffer::read(&row, id)?,
        None => StoredOffer::default(),
    };
    let since = terms::raised_since(context.now_ms, offer.terms_since, stored.terms.since);
    let offer = &Offer { terms_since: since.map_err(ApiError::from)?, ..offer.clone() };
    // Without a change, `upd_ts` stays as it is: publishers' clients use it to find changed offers.
    let (change, document) = change_of(db, sql::GET_OFFER_DOCUMENT, id, offer)?;
    if document.len() > MAX_DOCUMENT {
        return Err(INVALID_FIELD.with_message(format!("the offer has more than {MAX_DOCUMENT} bytes")).into());
    }
    if change == Change::Nothing {
        return Ok((change, 0));
    }

    check_goals(db, context, source, &offer_id, offer)?;
    let updated_at_s = context.now_ms.div_euclid(1_000);
    let body = bodies::render_body(&offer_id, offer, updated_at_s);
    if body.len() > MAX_BODY {
        let problem = format!("the offer's texts are too long: at most {MAX_BODY} bytes as listed");
        return Err(INVALID_FIELD.with_message(problem).into());
    }
    let growth = listing_room::bytes_of(id, offer.active, body.len()) - stored.listed_bytes;
    match source {
        WriteSource::Put => listing_room::require(listing_room::used(db)?, growth).map_err(ApiError::from)?,
        WriteSource::Check { .. } => return Ok((change, growth)),
        // Members cannot change offers.
        WriteSource::Import | WriteSource::Member => {}
    }

    listing_room::add(db, growth)?;
    let revision = revisions::record(db, context.now_ms)?;
    put_goals(db, context, id, offer)?;
    tracking_slots::mark_goals_of(db, id, revision)?;
    let offer_terms = OfferTerms::of(offer);
    let last = stored.terms.revision;
    let terms_revision = terms::seal(db, context.now_ms, Resource::Offer, id, last, &offer_terms)?;
    let [click_cap, conversion_cap] = [offer.click_cap, offer.conversion_cap].map(|cap| cap.map(|cap| cap.lim));
    let since = offer.terms_since.unwrap_or_default();
    // The current terms also pay for clicks before `since`, so outboxes that cache the terms must get new values.
    let repays = since != stored.terms.since || (since != 0 && terms_revision != last);
    if conversion_cap != stored.conversion_cap || repays {
        cap_sync::enqueue(db, id, context.now_ms)?;
    }
    db.execute(
        sql::PUT_OFFER,
        params![
            id,
            offer.advertiser_id.as_str(),
            offer.off_type.code(),
            offer.os.code(),
            offer.geo_tgt.countries().bits().to_vec(),
            !offer.geo_tgt.include.is_empty(),
            offer.active,
            offer.starts_at,
            offer.ends_at,
            click_cap,
            conversion_cap,
            click_cap.is_some() || conversion_cap.is_some(),
            offer.click_id_max.map(u32::from),
            target.as_str(),
            bodies::body_hash(&body).to_vec(),
            body.len(),
            revision,
            terms_revision,
            offer.terms_since.unwrap_or_default(),
            offer.min_seconds_to_convert,
        ],
    )?;
    db.execute(sql::PUT_OFFER_DOCUMENT, params![id, document.as_str(), updated_at_s])?;
    lasting::add_put(db, context, source, Resource::Offer, id, document)?;
    db.execute(sql::PUT_BODY, params![id, body, Kind::Bodies.format()])?;
    Ok((change, growth))
}

/// The stored values of an offer that a PUT needs.
#[derive(Default)]
struct StoredOffer {
    terms: TermsInForce,
    conversion_cap: Option<u32>,
    /// The offer's bytes in the listing.
    listed_bytes: i64,
}

impl StoredOffer {
    fn read(row: &Row, id: &str) -> DbResult<Self> {
        Ok(Self {
            listed_bytes: listing_room::bytes_of(id, row.boolean(3)?, row.number(4)?),
            terms: revisions::in_force(row, 0)?,
            conversion_cap: row.optional_number(2)?,
        })
    }
}

/// Refuses a goal of another offer, because the goal's id in a tracking URL identifies the clicked offer.
fn check_goals(db: &impl Database, context: &Context<'_>, source: WriteSource, id: &OfferId, offer: &Offer) -> Result {
    for (index, goal) in offer.goals.iter().enumerate() {
        if test_offers::is_reserved(goal.id.as_str()) {
            return Err(ApiError::from(FieldError::new(format!("goals[{index}].id"), RESERVED)).into());
        }
        if source == WriteSource::Put {
            import_claims::refuse_claimed_goal(db, context, &goal.id, id)?;
        }
        let owner = match (owner_of_goal(db, &goal.id)?, source.checked_import()) {
            (None, Some(import)) => import_claims::owner_of_goal(db, import, &goal.id)?,
            (owner, _) => owner,
        };
        if let Some(owner) = owner
            && owner != id.as_str()
        {
            let problem = format!("goal {} belongs to offer {owner}", goal.id);
            return Err(ApiError::from(FieldError::new(format!("goals[{index}].id"), problem)).into());
        }
    }
    Ok(())
}

/// Stores an offer's goals. Goals that the document leaves out are retired, not deleted.
fn put_goals(db: &impl Database, context: &Context<'_>, id: &str, offer: &Offer) -> Result {
    db.execute(sql::RETIRE_GOALS, params![context.now_ms, id])?;
    for goal in &offer.goals {
        let hash = slots::hash(goal.id.as_str());
        db.execute(sql::PUT_GOAL, params![goal.id.as_str(), id, hash])?;
    }
    Ok(())
}

fn owner_of_goal(db: &impl Database, goal: &GoalId) -> Result<Option<String>> {
    Ok(db.read_first(sql::GET_GOAL_OWNER, params![goal.as_str()], |row| row.text(0).map(str::to_owned))?)
}

/// Compares a document with the stored document, and returns the document to store. A PUT of an equal document changes
/// and publishes nothing.
fn change_of<T: Document + Serialize>(db: &impl Database, sql: &str, id: &str, put: &T) -> Result<(Change, String)> {
    let stored = db.query_first(sql, params![id])?;
    let document = to_store(stored.as_ref(), put)?;
    let is_same = stored.as_ref().is_some_and(|row| row.text(0) == Ok(document.as_str()));
    Ok((Change::of(stored.is_some(), is_same), document))
}

/// Returns the document to store in place of the row's document. Members that newer code has stored are kept.
fn to_store<T: Document + Serialize>(stored: Option<&Row>, put: &T) -> Result<String> {
    let document = json(put)?;
    Ok(match stored {
        Some(row) => keep_unknown::<T>(row.text(0)?, document),
        None => document,
    })
}

/// Returns the answer to a PUT that is rolled back: the resource as it would be stored.
///
/// # Errors
/// The errors of the PUT.
pub fn would_put(
    db: &impl Database,
    context: &Context<'_>,
    resource: Resource,
    id: &str,
    body: &str,
) -> Result<OperatorReply> {
    let mut checked = None;
    let rolled_back: Result = db.transaction(|| {
        put(db, context, WriteSource::Put, resource, id, body)?;
        checked = Some(get(db, resource, id)?);
        Err(Failure::Internal("the check is rolled back".into()))
    });
    match (checked, rolled_back) {
        (Some(reply), _) => Ok(reply),
        (None, Err(failure)) => Err(failure),
        (None, Ok(())) => Err(Failure::Internal("the check has no result".into())),
    }
}
