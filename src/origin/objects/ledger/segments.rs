//! Stores segments: the metadata in one table, the columns in another. Merges small segments, so that a day with
//! constant additions keeps few segments.

use std::rc::Rc;

use super::{column_cache::ColumnCache, sql};
use domain::{
    model::UtcDay,
    reporting::{
        Measure,
        dimension::Key,
        engine::{SegmentRef, Source},
        metric::{Sums, get},
        segment::{self, COLUMNS, Column, Corrupt, EncodedSegment, Image, MAX_IMAGE, MAX_ROWS, Segmenter},
    },
};
use platform::{Database, DatabaseError, DbResult, Value, database::json, params};

/// The two layers of a day (docs/DECISIONS.md, "Reports"). Their numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// Facts that the operator uploaded.
    Loaded = 0,
    /// Clicks and revenue that Signpost counted.
    Offers = 1,
}

impl Layer {
    pub fn number(self) -> i64 {
        self as i64
    }
}

/// The `upload` of active segments, which reports read.
pub const ACTIVE: i64 = 0;

/// The number of ids that a segment has in `columns`, and the offset of its image among these ids.
const SLOTS: i64 = 16;
const IMAGE_SLOT: i64 = 15;

/// A day's layer with this many segments of similar size is merged: opening a segment costs about as much as reading
/// 1,000 of its rows.
const MERGE: usize = 8;

/// Stores a segment. The metadata is stored first, so that a partly stored segment is found and deleted.
pub fn insert(db: &impl Database, upload: i64, day: UtcDay, layer: Layer, segment: &EncodedSegment) -> DbResult {
    let id = db.query_integer(sql::NEXT_SEGMENT, &[])?.unwrap_or(1);
    let [requests, responses, impressions, clicks, revenue] = Measure::ALL.map(|measure| get(&segment.sums, measure));
    db.execute(
        sql::INSERT_SEGMENT,
        params![
            upload,
            day.number(),
            layer.number(),
            id,
            segment.rows,
            requests,
            responses,
            impressions,
            clicks,
            revenue,
            segment.revenue_magnitude
        ],
    )?;
    if segment.bytes() <= MAX_IMAGE {
        db.execute(sql::INSERT_COLUMN, params![id * SLOTS + IMAGE_SLOT, segment.image()])?;
    } else {
        for (column, bytes) in Column::all().zip(&segment.columns) {
            db.execute(sql::INSERT_COLUMN, params![slot(id, column), bytes.clone()])?;
        }
    }
    Ok(())
}

/// Deletes a segment.
pub fn delete(db: &impl Database, upload: i64, day: UtcDay, layer: Layer, id: i64) -> DbResult {
    db.execute(sql::DELETE_SEGMENT, params![upload, day.number(), layer.number(), id])?;
    db.execute(sql::DELETE_COLUMNS, params![id * SLOTS, id * SLOTS + SLOTS - 1])
}

/// Deletes a day's layer.
pub fn delete_day(db: &impl Database, day: UtcDay, layer: Layer) -> DbResult {
    for (id, _) in segments_of_day(db, day, layer)? {
        delete(db, ACTIVE, day, layer, id)?;
    }
    Ok(())
}

/// Marks the days among `days` that have at least `MERGE` segments, so that the alarm merges them. Called after a
/// change, within the change's transaction.
pub fn mark_crowded(db: &impl Database, days: &[UtcDay], layer: Layer) -> DbResult {
    db.execute(sql::MARK_CROWDED, params![layer.number(), json(&days)?, MERGE])
}

/// A ledger's active segments of one layer or of both, as the engine's source.
pub struct Segments<'d, D> {
    db: &'d D,
    layer: Option<Layer>,
    cache: Option<&'d ColumnCache>,
}

impl<'d, D: Database> Segments<'d, D> {
    pub fn new(db: &'d D, layer: Option<Layer>) -> Self {
        Self { db, layer, cache: None }
    }

    /// Keeps columns in memory for later queries.
    pub fn with_cache(self, cache: &'d ColumnCache) -> Self {
        Self { cache: Some(cache), ..self }
    }

    /// Returns the number of stored facts between two days, which a query over these days reads.
    pub fn facts(&self, first: UtcDay, last: UtcDay) -> DbResult<u64> {
        let segments = self.segments(first, last)?;
        Ok(segments.iter().map(|segment| u64::from(segment.rows)).sum())
    }
}

impl<D: Database> Source for Segments<'_, D> {
    type Error = DatabaseError;

    fn segments(&self, first: UtcDay, last: UtcDay) -> DbResult<Vec<SegmentRef>> {
        let days = params![first.number(), last.number(), self.layer.map(Layer::number)];
        self.db.read_all(sql::LIST_SEGMENTS, days, |row| {
            Ok(SegmentRef { id: row.integer(0)?, day: day(row.integer(1)?)?, rows: row.number(2)? })
        })
    }

    fn columns(&self, segment: &SegmentRef, wanted: &[Column]) -> DbResult<Vec<Rc<Vec<u8>>>> {
        let read = || columns(self.db, segment.id, wanted);
        match self.cache {
            Some(cache) => {
                let slots = wanted.iter().map(|column| slot(segment.id, *column));
                cache.columns(slots, read)
            }
            None => Ok(read()?.into_iter().map(Rc::new).collect()),
        }
    }
}

/// Reads columns of a segment in the order of `wanted`.
fn columns(db: &impl Database, id: i64, wanted: &[Column]) -> DbResult<Vec<Vec<u8>>> {
    stored_columns(db, id, wanted)?.ok_or_else(|| DatabaseError(format!("segment {id} is incomplete")))
}

/// Reads separate columns or an image with one statement. Returns `None` if a column is missing.
fn stored_columns(db: &impl Database, id: i64, wanted: &[Column]) -> DbResult<Option<Vec<Vec<u8>>>> {
    let image = id * SLOTS + IMAGE_SLOT;
    // Unused parameters repeat the image's id, which SQLite looks up only once.
    let mut slots = [image; COLUMNS + 1];
    for (to, column) in slots.iter_mut().zip(wanted) {
        *to = slot(id, *column);
    }
    let mut rows = db.query(sql::GET_COLUMNS, &slots.map(Into::into))?;
    let mut take = |slot: i64| {
        let at = rows.iter().position(|row| row.integer(0) == Ok(slot))?;
        match rows.swap_remove(at).0.pop() {
            Some(Value::Blob(bytes)) => Some(bytes),
            _ => None,
        }
    };
    if let Some(image) = take(image) {
        let columns = wanted.iter().map(|column| Image(&image).column(*column).to_vec());
        return Ok(Some(columns.collect()));
    }
    Ok(wanted.iter().map(|column| take(slot(id, *column))).collect())
}

/// A column's id in `columns`.
fn slot(id: i64, column: Column) -> i64 {
    id * SLOTS + i64::from(column.number())
}

/// Merges some segments of one crowded day, in one transaction. Returns false if no day was crowded.
///
/// # Errors
/// The database failed, or a segment is corrupt. The day of a corrupt segment is no longer merged.
pub fn merge_next(db: &impl Database) -> DbResult<bool> {
    let Some(row) = db.query_first(sql::NEXT_CROWDED, &[])? else {
        return Ok(false);
    };
    let day = day(row.integer(0)?)?;
    let layer = if row.integer(1)? == Layer::Offers.number() { Layer::Offers } else { Layer::Loaded };
    let unmark = || db.execute(sql::UNCROWD, params![day.number(), layer.number()]);
    let chosen = choose(&segments_of_day(db, day, layer)?);
    if chosen.is_empty() {
        unmark()?;
        return Ok(true);
    }
    let mut segmenter = Segmenter::default();
    for (id, rows) in &chosen {
        if let Err(error) = read_rows(db, *id, *rows, |key, sums| segmenter.add(key, sums)) {
            unmark()?;
            return Err(error);
        }
    }
    let merged = segmenter.finish();
    if merged.len() >= chosen.len() {
        // The dictionaries do not fit into fewer segments, so every retry would also fail.
        unmark()?;
        return Ok(true);
    }
    db.transaction(|| {
        for (id, _) in &chosen {
            delete(db, ACTIVE, day, layer, *id)?;
        }
        for segment in &merged {
            insert(db, ACTIVE, day, layer, segment)?;
        }
        Ok(true)
    })
}

/// True if a day waits to be merged.
pub fn is_crowded(db: &impl Database) -> DbResult<bool> {
    Ok(db.query_first(sql::NEXT_CROWDED, &[])?.is_some())
}

/// Chooses segments to merge into one. Their sizes are within a factor of eight, so that a row is rewritten only when
/// its day has grown eightfold.
fn choose(segments: &[(i64, u32)]) -> Vec<(i64, u32)> {
    let size = |rows: u32| rows.checked_ilog2().unwrap_or(0) / 3;
    for class in 0..=size(u32::MAX) {
        let mut alike: Vec<_> = segments.iter().copied().filter(|(_, rows)| size(*rows) == class).collect();
        if alike.len() < MERGE {
            continue;
        }
        alike.sort_unstable_by_key(|(_, rows)| *rows);
        let mut free_rows = MAX_ROWS;
        let fits: Vec<_> = alike
            .into_iter()
            .take_while(|(_, rows)| {
                let rows = usize::try_from(*rows).unwrap_or(usize::MAX);
                let fits = rows <= free_rows;
                free_rows = free_rows.saturating_sub(rows);
                fits
            })
            .collect();
        if fits.len() >= MERGE / 2 {
            return fits;
        }
    }
    Vec::new()
}

/// Calls `each` with the key and the sums of every row of a day's layer.
pub fn each_row(db: &impl Database, day: UtcDay, layer: Layer, mut each: impl FnMut(&Key<'_>, &Sums)) -> DbResult {
    for (id, rows) in segments_of_day(db, day, layer)? {
        read_rows(db, id, rows, &mut each)?;
    }
    Ok(())
}

/// Like [`each_row`], but skips damaged segments and returns their ids.
pub fn each_intact_row(
    db: &impl Database,
    day: UtcDay,
    layer: Layer,
    mut each: impl FnMut(&Key<'_>, &Sums),
) -> DbResult<Vec<i64>> {
    let mut damaged = Vec::new();
    for (id, rows) in segments_of_day(db, day, layer)? {
        let all: Vec<Column> = Column::all().collect();
        match stored_columns(db, id, &all)? {
            Some(bytes) if decode(&bytes, rows, |_, _| ()).is_ok() => {
                decode(&bytes, rows, &mut each).map_err(|cause| DatabaseError(cause.to_string()))?;
            }
            _ => damaged.push(id),
        }
    }
    Ok(damaged)
}

fn read_rows(db: &impl Database, id: i64, rows: u32, each: impl FnMut(&Key<'_>, &Sums)) -> DbResult {
    let all: Vec<Column> = Column::all().collect();
    let bytes = columns(db, id, &all)?;
    decode(&bytes, rows, each).map_err(|cause| DatabaseError(format!("segment {id}: {cause}")))
}

fn decode(bytes: &[Vec<u8>], rows: u32, each: impl FnMut(&Key<'_>, &Sums)) -> Result<(), Corrupt> {
    let column = |column: Column| bytes.get(usize::from(column.number())).map_or(&[][..], Vec::as_slice);
    segment::each_row(column, rows, each)
}

fn segments_of_day(db: &impl Database, day: UtcDay, layer: Layer) -> DbResult<Vec<(i64, u32)>> {
    db.read_all(sql::LIST_SEGMENTS_OF_DAY, params![day.number(), layer.number()], |row| {
        Ok((row.integer(0)?, row.number(1)?))
    })
}

pub(super) fn day(number: i64) -> DbResult<UtcDay> {
    UtcDay::from_number(number).ok_or_else(|| DatabaseError(format!("{number} is not a day")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_segments_of_similar_size_are_merged() {
        let ids = |segments: &[(i64, u32)]| choose(segments).iter().map(|(id, _)| *id).collect::<Vec<_>>();
        let eight: Vec<(i64, u32)> = (1..=8).map(|id| (id, 3)).collect();
        assert_eq!(ids(&eight), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(ids(&eight[..7]), [0_i64; 0]);
        let mut with_a_large_one = eight.clone();
        with_a_large_one.push((9, 11_000));
        assert_eq!(ids(&with_a_large_one).len(), 8);
        let full: Vec<(i64, u32)> = (1..=20).map(|id| (id, 65_536)).collect();
        assert!(ids(&full).is_empty());
        let halves: Vec<(i64, u32)> = (1..=20).map(|id| (id, 10_000)).collect();
        assert_eq!(ids(&halves).len(), 6, "as many as fit one segment");
    }
}
