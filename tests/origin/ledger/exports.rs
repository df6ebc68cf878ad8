//! Exports are read once, by the session that made them, within 5 minutes; and their pieces are of one version.

use contract::{
    ledger::{Command, CreateExport, Export, ExportPiece, ExportProgress, OpenExport, Reply},
    operation::Bytes,
};
use domain::{
    model::{PublisherId, api_error::ApiError, mac::MacKeys},
    reporting::keys::SETTING,
};
use origin::objects::ledger::{
    Context,
    exports::{self, ExportQuery},
    handle,
};
use platform::failure::Failure;

use super::*;

const MINUTES_5: i64 = 300_000;

/// Runs a command at a time. The random bytes differ for each `seed`.
fn run(db: &Sqlite, now_ms: i64, seed: u8, command: Command) -> Result<Reply, ApiError> {
    let publisher = PublisherId::parse("acme").unwrap();
    let context = Context {
        now_ms,
        random: &|| Ok([seed; 32]),
        mac: &|| Ok(MacKeys::parse(SETTING, &"ab".repeat(32)).unwrap()),
        publisher: &publisher,
    };
    handle(db, &context, command).map_err(refused)
}

fn refused(failure: Failure) -> ApiError {
    match failure {
        Failure::Refused(error) => error,
        Failure::Internal(cause) => panic!("{cause}"),
    }
}

fn query(first: i64, last: i64) -> String {
    format!(
        r#"{{"date_range":{{"start_date":"{}","end_date":"{}"}},
            "dimensions":["date","placement_id"],"metrics":["clicks"]}}"#,
        day(first),
        day(last)
    )
}

/// Makes an export of the session `session`.
fn create(db: &Sqlite, now_ms: i64, seed: u8, session: u8) -> Result<String, ApiError> {
    let create = CreateExport {
        body: format!(r#"{{"query":{},"format":"csv"}}"#, query(0, 90)),
        session: Bytes(vec![session; 32]),
    };
    let Reply::Operator(reply) = run(db, now_ms, seed, Command::CreateExport(create))? else {
        panic!("another reply");
    };
    let made: serde_json::Value = serde_json::from_str(&reply.body).unwrap();
    assert_eq!((reply.status, made["rows"].as_u64()), (201, Some(8)));
    Ok(made["export_id"].as_str().unwrap().to_owned())
}

fn open(db: &Sqlite, now_ms: i64, export_id: &str, session: u8) -> Result<Export, ApiError> {
    let open = OpenExport { export_id: export_id.to_owned(), session: Bytes(vec![session; 32]) };
    match run(db, now_ms, 0, Command::OpenExport(open))? {
        Reply::Export(export) => Ok(export),
        other => panic!("{other:?}"),
    }
}

/// A ledger with eight placements on a day.
fn loaded() -> Sqlite {
    let db = ledger();
    upload(1, &rows(1, 8)).replace(&db, 5, day(1)).unwrap();
    db
}

/// Facts of so many placements on a day.
fn rows(on: i64, placements: i64) -> Vec<(UtcDay, Key, Sums)> {
    let fact = |n: i64| {
        let mut key = key(0);
        key[2] = format!("place-{n:06}");
        (day(on), key, [n; 5])
    };
    (0..placements).map(fact).collect()
}

#[test]
fn an_export_is_read_once_by_the_session_that_made_it() {
    let db = loaded();
    let export_id = create(&db, 1_000, 1, 7).unwrap();
    let not_found = open(&db, 1_000, "0123456789abcdef", 7).unwrap_err();
    assert_eq!((not_found.status, not_found.code), (404, "not_found"));
    // Another session learns nothing, and spends nothing.
    assert_eq!(open(&db, 1_000, &export_id, 8), Err(not_found.clone()));
    assert_eq!(open(&db, 1_000, &export_id, 7).unwrap().rows, 8);
    assert_eq!(open(&db, 1_000, &export_id, 7), Err(not_found));
}

#[test]
fn an_export_expires_or_makes_way_for_16_others() {
    let db = loaded();
    let first = create(&db, 1_000, 1, 7).unwrap();
    assert!(open(&db, 1_000 + MINUTES_5, &first, 7).is_err());
    let ids: Vec<_> = (2..=18).map(|seed| create(&db, 2_000, seed, 7).unwrap()).collect();
    assert!(open(&db, 2_000, &ids[0], 7).is_err());
    for export_id in &ids[1..] {
        open(&db, 2_000, export_id, 7).unwrap();
    }
}

#[test]
fn an_export_has_no_page() {
    let db = loaded();
    let query = query(0, 90).replace("\"metrics\"", "\"pagination\":{\"count\":5},\"metrics\"");
    for (body, code) in [
        (format!(r#"{{"query":{query},"format":"csv"}}"#), "invalid_pagination"),
        (r#"{"query":{},"format":"csv"}"#.to_owned(), "missing_field"),
        (r#"{"query":{},"format":"xlsx"}"#.to_owned(), "invalid_field"),
        (r#"{"query":{}}"#.to_owned(), "missing_field"),
    ] {
        let create = CreateExport { body, session: Bytes(vec![7; 32]) };
        let refused = run(&db, 5, 1, Command::CreateExport(create)).unwrap_err();
        assert_eq!(refused.code, code);
    }
}

fn piece(db: &Sqlite, before: Option<&ExportProgress>) -> Result<(ExportProgress, Vec<u8>), ApiError> {
    let query = query(0, 90);
    let wanted = ExportPiece {
        export_id: "0f".into(),
        query: query.clone(),
        format: domain::reporting::export::ExportFormat::Csv,
        rows_before: before.map_or(0, |progress| progress.rows_read),
        version: before.map(|progress| progress.version),
    };
    exports::piece(db, &ExportQuery::parse(&query).unwrap(), &wanted).map_err(refused)
}

/// The first piece of an export of all facts.
pub fn first_piece(db: &Sqlite) -> ExportProgress {
    piece(db, None).unwrap().0
}

#[test]
fn pieces_end_before_they_are_large_and_together_are_the_whole_result() {
    let db = ledger();
    upload(1, &rows(1, 25_000)).replace(&db, 5, day(1)).unwrap();
    let (mut body, mut before, mut pieces) = (Vec::new(), None, 0);
    let mut length = None;
    loop {
        let (progress, bytes) = piece(&db, before.as_ref()).unwrap();
        assert!(bytes.len() < 1_100_000, "{}", bytes.len());
        body.extend(bytes);
        pieces += 1;
        length = length.or(progress.length);
        if progress.is_complete() {
            break;
        }
        before = Some(progress);
    }
    assert_eq!((pieces, length), (3, Some(body.len() as u64)));
    let body = String::from_utf8(body).unwrap();
    let expected = (0..25_000).map(|n| format!("{},place-{n:06},{n}\r\n", day(1)));
    let expected: String = std::iter::once("date,placement_id,clicks\r\n".to_owned()).chain(expected).collect();
    assert!(body == expected, "{} bytes", body.len());
}

#[test]
fn an_export_ends_when_facts_of_its_days_change_and_not_when_others_do() {
    let db = ledger();
    upload(1, &rows(1, 12_000)).replace(&db, 5, day(1)).unwrap();
    let begun = first_piece(&db);
    assert_eq!((begun.rows, begun.rows_read), (12_000, 10_000));
    upload(2, &rows(91, 3)).replace(&db, 5, day(91)).unwrap();
    let (progress, _) = piece(&db, Some(&begun)).unwrap();
    assert!(progress.is_complete());
    upload(3, &rows(2, 1)).apply(&db, 5, "more", 1).unwrap();
    let refused = piece(&db, Some(&begun)).unwrap_err();
    assert_eq!((refused.status, refused.code), (409, "facts_changed"));
}

#[test]
fn a_merge_of_segments_changes_no_facts() {
    let db = ledger();
    for n in 1..=8 {
        upload(n, &rows(1, 12_000)).apply(&db, 5, &format!("k{n}"), 12_000).unwrap();
    }
    let begun = first_piece(&db);
    ledger::alarm(&db, 5).unwrap();
    let (progress, _) = piece(&db, Some(&begun)).unwrap();
    assert_ne!(progress.version.segments, begun.version.segments, "nothing was merged");
    assert!(progress.is_complete());
}
