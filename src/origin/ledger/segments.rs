//! Where segments are kept: what is known of each in one table, its columns in another. And merging, so that a day that
//! is added to all the time stays a few segments.

use super::sql;
use domain::{
    model::time::UtcDay,
    reporting::{
        Dimension, Measure,
        dimension::KEY,
        engine::{SegmentRef, Source},
        metric::get,
        segment::{
            COLUMNS, Column, Encoded, Image, KeyColumn, MAX_IMAGE, MAX_ROWS, MeasureColumn, Segmenter,
        },
    },
};
use platform::{
    database::{Database, DatabaseError, Value, json},
    params,
};

/// The two layers of a day (docs/DECISIONS.md, "Reports"). Their numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The facts interface's.
    Loaded = 0,
    /// What Signpost itself counted.
    Offers = 1,
}

impl Layer {
    pub fn number(self) -> i64 {
        self as i64
    }
}

/// The `upload` of segments that count.
pub const STANDING: i64 = 0;

/// Places in `columns` that a segment has, and which of them its image has.
const PLACES: i64 = 16;
const IMAGE: i64 = 15;

/// A day's layer with this many segments of one size is merged: reading a segment costs about what reading a thousand of
/// its rows does.
const MERGE: usize = 8;

/// Stores a segment: first that there is one, so that one that was not stored whole is found and forgotten.
pub fn insert(
    db: &impl Database,
    upload: i64,
    day: UtcDay,
    layer: Layer,
    segment: &Encoded,
) -> Result<(), DatabaseError> {
    let id = db
        .query_first(sql::NEXT_SEGMENT, &[])?
        .map_or(Ok(1), |row| row.integer(0))?;
    let [requests, responses, impressions, clicks, revenue] =
        Measure::ALL.map(|measure| get(&segment.sums, measure));
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
        db.execute(sql::INSERT_COLUMN, params![id * PLACES + IMAGE, segment.image()])?;
    } else {
        for (column, bytes) in Column::all().zip(&segment.columns) {
            db.execute(sql::INSERT_COLUMN, params![place(id, column), bytes.clone()])?;
        }
    }
    Ok(())
}

/// Forgets a segment.
pub fn delete(
    db: &impl Database,
    upload: i64,
    day: UtcDay,
    layer: Layer,
    id: i64,
) -> Result<(), DatabaseError> {
    db.execute(
        sql::DELETE_SEGMENT,
        params![upload, day.number(), layer.number(), id],
    )?;
    db.execute(
        sql::DELETE_COLUMNS,
        params![id * PLACES, id * PLACES + PLACES - 1],
    )
}

/// Forgets a day's layer.
pub fn delete_day(db: &impl Database, day: UtcDay, layer: Layer) -> Result<(), DatabaseError> {
    for (id, _) in of_day(db, day, layer)? {
        delete(db, STANDING, day, layer, id)?;
    }
    Ok(())
}

/// Has the alarm merge those of these days that have become many segments. For after a change, in its transaction.
pub fn mark_crowded(db: &impl Database, days: &[UtcDay], layer: Layer) -> Result<(), DatabaseError> {
    let at_least = i64::try_from(MERGE).unwrap_or(i64::MAX);
    db.execute(sql::MARK_CROWDED, params![layer.number(), json(&days)?, at_least])
}

/// A ledger's segments, for the engine.
pub struct Segments<'d, D>(pub &'d D);

impl<D: Database> Source for Segments<'_, D> {
    type Error = DatabaseError;

    fn segments(&self, first: UtcDay, last: UtcDay) -> Result<Vec<SegmentRef>, DatabaseError> {
        let rows = self
            .0
            .query(sql::LIST_SEGMENTS, params![first.number(), last.number()])?;
        rows.iter()
            .map(|row| {
                Ok(SegmentRef {
                    id: row.integer(0)?,
                    day: day(row.integer(1)?)?,
                    rows: count(row.integer(2)?)?,
                })
            })
            .collect()
    }

    fn columns(&self, segment: &SegmentRef, wanted: &[Column]) -> Result<Vec<Vec<u8>>, DatabaseError> {
        columns(self.0, segment.id, wanted)
    }
}

/// Columns of a segment, in the order asked: one statement, whether they are kept apart or as an image.
fn columns(db: &impl Database, id: i64, wanted: &[Column]) -> Result<Vec<Vec<u8>>, DatabaseError> {
    let image = id * PLACES + IMAGE;
    // A place that is named again is not looked up again.
    let mut places = [image; COLUMNS + 1];
    for (to, column) in places.iter_mut().zip(wanted) {
        *to = place(id, *column);
    }
    let mut rows = db.query(sql::GET_COLUMNS, &places.map(Into::into))?;
    let missing = || DatabaseError(format!("segment {id} is incomplete"));
    let mut take = |place: i64| {
        let at = rows.iter().position(|row| row.integer(0) == Ok(place))?;
        match rows.swap_remove(at).0.pop() {
            Some(Value::Blob(bytes)) => Some(bytes),
            _ => None,
        }
    };
    if let Some(image) = take(image) {
        return Ok(wanted
            .iter()
            .map(|column| Image(&image).column(*column).to_vec())
            .collect());
    }
    wanted
        .iter()
        .map(|column| take(place(id, *column)).ok_or_else(missing))
        .collect()
}

fn place(id: i64, column: Column) -> i64 {
    id * PLACES + i64::from(column.number())
}

/// What merging is left with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merged {
    /// There may be more to merge.
    Some,
    Nothing,
}

/// Merges some segments of one crowded day, as one transaction.
///
/// # Errors
/// What the database says, or that a segment is corrupt: its day is then left as it is.
pub fn merge_next(db: &impl Database) -> Result<Merged, DatabaseError> {
    let Some(row) = db.query_first(sql::NEXT_CROWDED, &[])? else {
        return Ok(Merged::Nothing);
    };
    let day = day(row.integer(0)?)?;
    let layer = if row.integer(1)? == Layer::Offers.number() {
        Layer::Offers
    } else {
        Layer::Loaded
    };
    let uncrowd = || db.execute(sql::UNCROWD, params![day.number(), layer.number()]);
    let chosen = choose(&of_day(db, day, layer)?);
    if chosen.is_empty() {
        uncrowd()?;
        return Ok(Merged::Some);
    }
    let mut segmenter = Segmenter::default();
    for (id, rows) in &chosen {
        if let Err(error) = read_into(db, *id, *rows, &mut segmenter) {
            uncrowd()?;
            return Err(error);
        }
    }
    let merged = segmenter.finish();
    if merged.len() >= chosen.len() {
        // Their dictionaries do not fit together: it would be the same again and again.
        uncrowd()?;
        return Ok(Merged::Some);
    }
    db.transaction(|| {
        for (id, _) in &chosen {
            delete(db, STANDING, day, layer, *id)?;
        }
        for segment in &merged {
            insert(db, STANDING, day, layer, segment)?;
        }
        Ok(Merged::Some)
    })
}

/// Whether any day is to be merged.
pub fn is_crowded(db: &impl Database) -> Result<bool, DatabaseError> {
    Ok(db.query_first(sql::NEXT_CROWDED, &[])?.is_some())
}

/// Segments to merge into one: of one size, within a factor of eight, so that a row is written again only as often as
/// its day grows eightfold.
fn choose(segments: &[(i64, u32)]) -> Vec<(i64, u32)> {
    let size = |rows: u32| rows.checked_ilog2().unwrap_or(0) / 3;
    for of in 0..=size(u32::MAX) {
        let mut alike: Vec<_> = segments
            .iter()
            .copied()
            .filter(|(_, rows)| size(*rows) == of)
            .collect();
        if alike.len() < MERGE {
            continue;
        }
        alike.sort_unstable_by_key(|(_, rows)| *rows);
        let mut room = MAX_ROWS;
        let fits: Vec<_> = alike
            .into_iter()
            .take_while(|(_, rows)| {
                let rows = usize::try_from(*rows).unwrap_or(usize::MAX);
                let fits = rows <= room;
                room = room.saturating_sub(rows);
                fits
            })
            .collect();
        if fits.len() >= MERGE / 2 {
            return fits;
        }
    }
    Vec::new()
}

/// Adds a segment's rows to others.
fn read_into(db: &impl Database, id: i64, rows: u32, into: &mut Segmenter) -> Result<(), DatabaseError> {
    let corrupt = |cause| DatabaseError(format!("segment {id}: {cause}"));
    let all: Vec<Column> = Column::all().collect();
    let bytes = columns(db, id, &all)?;
    let mut keys = Vec::with_capacity(KEY.len());
    for (bytes, dimension) in bytes.iter().zip(KEY) {
        let column = KeyColumn::open(bytes, dimension, rows).map_err(corrupt)?;
        keys.push((column.values().collect::<Vec<_>>(), column.codes));
    }
    let mut measures = Vec::with_capacity(Measure::ALL.len());
    for (bytes, measure) in bytes.iter().skip(KEY.len()).zip(Measure::ALL) {
        measures.push(MeasureColumn::open(bytes, measure, rows).map_err(corrupt)?);
    }
    for row in 0..usize::try_from(rows).unwrap_or(0) {
        let mut key = [Dimension::unknown(Dimension::App); KEY.len()];
        for (to, (values, codes)) in key.iter_mut().zip(&keys) {
            *to = codes
                .get(row)
                .and_then(|code| values.get(code))
                .copied()
                .unwrap_or_default();
        }
        let mut sums = [0; Measure::ALL.len()];
        for (to, column) in sums.iter_mut().zip(&measures) {
            *to = column.get(row).unwrap_or_default();
        }
        into.add(&key, &sums);
    }
    Ok(())
}

fn of_day(db: &impl Database, day: UtcDay, layer: Layer) -> Result<Vec<(i64, u32)>, DatabaseError> {
    let rows = db.query(sql::LIST_SEGMENTS_OF_DAY, params![day.number(), layer.number()])?;
    rows.iter()
        .map(|row| Ok((row.integer(0)?, count(row.integer(1)?)?)))
        .collect()
}

pub(super) fn day(number: i64) -> Result<UtcDay, DatabaseError> {
    UtcDay::from_number(number).ok_or_else(|| DatabaseError(format!("{number} is no day")))
}

fn count(number: i64) -> Result<u32, DatabaseError> {
    u32::try_from(number).map_err(|_| DatabaseError(format!("{number} is no number of rows")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_of_one_size_are_merged_and_large_ones_left_alone() {
        let ids = |segments: &[(i64, u32)]| choose(segments).iter().map(|(id, _)| *id).collect::<Vec<_>>();
        let eight: Vec<(i64, u32)> = (1..=8).map(|id| (id, 3)).collect();
        assert_eq!(ids(&eight), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(ids(&eight[..7]), [0_i64; 0]);
        let mut beside_a_day = eight.clone();
        beside_a_day.push((9, 11_000));
        assert_eq!(ids(&beside_a_day).len(), 8);
        let full: Vec<(i64, u32)> = (1..=20).map(|id| (id, 65_536)).collect();
        assert!(ids(&full).is_empty());
        let halves: Vec<(i64, u32)> = (1..=20).map(|id| (id, 10_000)).collect();
        assert_eq!(ids(&halves).len(), 6, "as many as fit one segment");
    }
}
