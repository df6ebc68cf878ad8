//! Fuzz target for report queries: parser, engine and writers over the demo's facts.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, HashMap},
    sync::LazyLock,
};

use serde_json::Value;

use super::world::{FACTS, LEDGER};
use domain::{
    model::time::UtcDay,
    reporting::{
        Dimension, Metric, Sums,
        engine::{Budget, EngineError, run},
        format::Format,
        page::Page,
        query::{Column, MAX_COUNT, MAX_FILTERS, MAX_ORDER, MAX_SPAN_DAYS, MAX_VALUES, Query},
        render::Renderer,
    },
};

/// Input: the body of a report request.
///
/// An accepted query is within its limits. The engine returns the groups, sums and order of a naive pass over all
/// facts, reads every segment once, and returns the same with little memory. JSON, NDJSON and CSV hold the same rows.
pub fn query(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    let query = match Query::parse(text) {
        Ok(query) => query,
        Err(refusal) => {
            assert_eq!(refusal.status, 400);
            return;
        }
    };
    assert!((0..=MAX_SPAN_DAYS).contains(&(query.end.number() - query.start.number())));
    assert!(!query.dimensions.is_empty() && query.dimensions.len() <= Dimension::ALL.len());
    assert!(!query.metrics.is_empty() && query.metrics.len() <= Metric::ALL.len());
    assert!(query.filters.len() <= MAX_FILTERS && query.order.len() <= MAX_ORDER);
    assert!(query.filters.iter().all(|filter| filter.values.len() <= MAX_VALUES));
    assert!(query.page >= 1 && (1..=MAX_COUNT).contains(&query.count));

    let (page, effort) = run(&*LEDGER, &query, &Budget::default(), None).unwrap();
    assert!(effort.segments <= LEDGER.segments.len() as u64 && effort.splits == 0 && effort.sweeps <= 1);
    check_rows(&page, &query);
    let little = Budget { bytes: 48 << 10, kept: 4 << 10, ..Budget::default() };
    match run(&*LEDGER, &query, &little, None) {
        Ok((again, _)) => assert_eq!(again, page),
        Err(error) => assert_eq!(error, EngineError::TooLarge),
    }
    check_written(page);
}

fn check_rows(page: &Page, query: &Query) {
    let groups = groups(query);
    assert_eq!(page.total, groups.len() as u64);
    assert_eq!(page.matched_nothing(), groups.is_empty());
    let left = page.total.saturating_sub(query.offset());
    assert_eq!(page.rows() as u64, left.min(u64::from(query.count)));
    let mut before: Option<(Vec<&str>, &Sums)> = None;
    for row in (0..page.rows()).map(|at| page.row(at).unwrap()) {
        let key: Vec<_> = (0..query.dimensions.len()).map(|index| row.value(index).unwrap()).collect();
        let expected = &groups[&key];
        for measure in query.measures() {
            assert_eq!(row.sums[measure.index()], expected[measure.index()], "{key:?}");
        }
        if let Some((before, sums)) = before.replace((key.clone(), row.sums)) {
            assert!(is_before(query, (&before, sums), (&key, row.sums)), "{before:?} {key:?}");
        }
    }
}

/// The days of the facts as text.
static DAYS: LazyLock<BTreeMap<UtcDay, String>> =
    LazyLock::new(|| FACTS.iter().map(|(day, ..)| (*day, day.to_string())).collect());

/// The groups that a query selects, computed naively.
fn groups(query: &Query) -> BTreeMap<Vec<&'static str>, Sums> {
    let mut groups: BTreeMap<Vec<&'static str>, Sums> = BTreeMap::new();
    for (day, key, sums) in FACTS.iter() {
        let value = |dimension: Dimension| match dimension.key_index() {
            Some(at) => key[at].as_str(),
            None => DAYS[day].as_str(),
        };
        let passes =
            query.filters.iter().all(|filter| filter.values.iter().any(|accepted| accepted == value(filter.dimension)));
        if passes && (query.start..=query.end).contains(day) {
            let group = query.dimensions.iter().map(|dimension| value(*dimension)).collect();
            let group = groups.entry(group).or_default();
            group.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
        }
    }
    groups
}

/// Whether `left` sorts strictly before `right`. No two rows are equal.
fn is_before(query: &Query, left: (&[&str], &Sums), right: (&[&str], &Sums)) -> bool {
    let by_order = query.order.iter().map(|order| {
        let ordering = match order.column {
            Column::Metric(metric) => metric.compare(left.1, right.1),
            Column::Dimension(dimension) => {
                let index = query.dimensions.iter().position(|known| *known == dimension).unwrap();
                left.0[index].cmp(right.0[index])
            }
        };
        if order.ascending { ordering } else { ordering.reverse() }
    });
    let decided = by_order.chain([left.0.cmp(right.0)]).find(|ordering| ordering.is_ne());
    decided == Some(Ordering::Less)
}

/// Compares a page as JSON, as NDJSON and as CSV.
pub fn check_written(page: Page) {
    let rows = page.rows();
    let (dimensions, metrics) = (page.dimensions.clone(), page.metrics.clone());
    let text = |format| {
        let names = HashMap::from([("10000001".to_owned(), "Lumen, \"Arcade\"\n".to_owned())]);
        String::from_utf8(Renderer::new(page.clone(), format, names).flatten().collect()).unwrap()
    };
    let json: Value = serde_json::from_str(&text(Format::Json)).unwrap();
    let objects = json["rows"].as_array().unwrap();
    let lines = text(Format::Ndjson);
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((objects.len(), objects), (rows, &lines));
    let mut records = records(&text(Format::Csv)).into_iter();
    let header = records.next().unwrap();
    let app_name_columns = usize::from(dimensions.contains(&Dimension::App));
    assert_eq!(header.len(), dimensions.len() + metrics.len() + app_name_columns);
    for (object, record) in objects.iter().zip(records.by_ref()) {
        assert_eq!(header.len(), record.len());
        for (name, field) in header.iter().zip(&record) {
            let value = match name.as_str() {
                "app_name" => &object["app"]["name"],
                name => &object[name],
            };
            match Metric::parse(name) {
                Some(_) if value.is_null() => assert_eq!(field, "0"),
                Some(_) => assert_eq!(serde_json::from_str::<Value>(field).unwrap(), *value),
                None => assert_eq!(value, field),
            }
        }
        // Zeros may be missing, and no other member may be present.
        assert!(object.as_object().unwrap().keys().all(|name| name == "app" || header.contains(name)));
    }
    assert_eq!(records.next(), None);
}

/// Reads CSV by RFC 4180.
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '"' if quoted && rest.next_if_eq(&'"').is_some() => field.push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => record.push(std::mem::take(&mut field)),
            '\r' if !quoted => {
                assert_eq!(rest.next(), Some('\n'));
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            character => field.push(character),
        }
    }
    assert!(record.is_empty() && field.is_empty() && !quoted);
    records
}
