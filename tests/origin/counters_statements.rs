//! The sweeps of the counters find expired rows by an index, and read no others.

use super::{migrated, plan};
use origin::objects::counters::{MIGRATIONS, sql};

#[test]
fn a_sweep_finds_what_is_expired_by_an_index() {
    let db = migrated(MIGRATIONS);
    let of_takes = "SEARCH takes USING PRIMARY KEY (kind=? AND day<?)";
    let of_daily = "SEARCH daily USING PRIMARY KEY (day<?)";
    let of_uncapped = "SEARCH uncapped USING PRIMARY KEY (day<?)";
    let of_marks = "SEARCH marks USING COVERING INDEX marks_by_day (seen_day<?)";
    for (sql, expected) in [
        (sql::SWEEP_TAKES, vec![of_takes]),
        (sql::SWEEP_DAILY, vec![of_daily]),
        (sql::SWEEP_UNCAPPED, vec![of_uncapped]),
        (sql::SWEEP_MARKS, vec![of_marks]),
        (sql::MORE_TO_SWEEP, vec![of_takes, of_takes, of_daily, of_uncapped, of_marks]),
    ] {
        let plan = plan(&db, sql);
        let expired: Vec<_> = plan.iter().filter(|step| step.contains("day<?")).collect();
        assert_eq!(expired, expected, "{sql}: {plan:?}");
        // The other steps delete what was found, by its key.
        let others = plan.iter().filter(|step| step.starts_with("SCAN"));
        let scans: Vec<_> =
            others.filter(|step| !["SCAN oldest", "SCAN CONSTANT ROW"].contains(&step.as_str())).collect();
        assert!(scans.is_empty(), "{sql}: {plan:?}");
    }
}
