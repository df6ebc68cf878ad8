//! The operator's attention: the outbox's open items follow from its log and batches, and are listed once reported.

use std::collections::BTreeSet;

use super::world::World;
use contract::activity;
use origin::objects::activity::handle;
use platform::database::Database;

/// Kinds and subjects.
type Open = BTreeSet<(i64, String)>;

/// The same from the log, the endpoint and the batches alone.
const IN_LOG: &str =
    "SELECT IIF(c.state = 15, 2, 1), e.transaction_id FROM conversions c JOIN entries e ON e.entry = c.entry
      WHERE c.state = 15 OR c.state >= 20
    UNION ALL SELECT 3, transaction_id FROM entries WHERE delivery = 2 AND user_id IS NOT NULL
    UNION ALL SELECT 4, 'callback' FROM outbox WHERE callback_sealed IS NOT NULL AND disabled_ms IS NOT NULL
    UNION ALL SELECT 5, 'callback' FROM outbox
      WHERE callback_sealed IS NOT NULL AND disabled_ms IS NULL AND failures >= 5
    UNION ALL SELECT 9, key || ': batch after ' || (value ->> '$.mark') FROM positions, json_each(known)
      WHERE value ->> '$.behind.attempts' >= 5";

impl World {
    pub fn ask_attention(&mut self, json: &str) -> String {
        let command: activity::Command = serde_json::from_str(json).unwrap();
        assert!(matches!(command, activity::Command::Attention(_)), "{command:?}");
        let reply = handle(&self.attention, self.now_ms(), command).unwrap();
        serde_json::to_string(&reply).unwrap()
    }

    pub fn check_attention(&self) {
        let in_log = open(&self.env.db, IN_LOG);
        let in_feed = open(&self.env.db, "SELECT kind, subject FROM attention WHERE is_open");
        assert_eq!(in_feed, in_log);
        let untold =
            "SELECT 1 FROM attention_feed WHERE resets OR EXISTS (SELECT 1 FROM attention WHERE changes <> told)";
        if self.env.db.query_first(untold, &[]).unwrap().is_none() {
            assert_eq!(open(&self.attention, "SELECT kind, subject FROM attention_items"), in_log);
        }
    }
}

fn open(db: &impl Database, sql: &str) -> Open {
    let rows = db.query(sql, &[]).unwrap();
    rows.iter().map(|row| (row.integer(0).unwrap(), row.text(1).unwrap().to_owned())).collect()
}
