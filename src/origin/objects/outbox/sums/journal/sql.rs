//! The table and the statements of journals.

pub const TABLES: &[&str] = &[
    // The journals that this outbox keeps for other outboxes. A row is a batch. `source` is the other outbox, and
    // `number` is the last number of its log in the batch. `users` is set to NULL after three days.
    "CREATE TABLE journal (
       number INTEGER PRIMARY KEY, source TEXT NOT NULL, salt TEXT NOT NULL, users TEXT, txns TEXT NOT NULL,
       entries TEXT NOT NULL
     ) STRICT",
];

/// The entries of a batch that the outbox has lost: entries that were created, paid or changed after the number `?2`.
macro_rules! lost {
    () => {
        "FROM (SELECT value AS e FROM json_each(?1))
        WHERE MAX(e ->> '$.entry', COALESCE(e ->> '$.movement', 0), COALESCE(e ->> '$.changed', 0)) > ?2"
    };
}

platform::statements! {
    /// first number (exclusive), last number (inclusive), maximum numbers → last of these numbers
    pub const END_OF_BATCH = "SELECT MAX(number) FROM (
        SELECT entry AS number FROM (SELECT entry FROM entries WHERE entry > ?1 AND entry <= ?2 ORDER BY entry LIMIT ?3)
        UNION SELECT movement FROM (SELECT movement FROM entries
          WHERE movement <> entry AND movement > ?1 AND movement <= ?2 ORDER BY movement LIMIT ?3)
        UNION SELECT number FROM (SELECT number FROM changes WHERE number > ?1 AND number <= ?2 ORDER BY number LIMIT ?3)
        ORDER BY number LIMIT ?3)";
    /// first number (exclusive), last number (inclusive) → salt, entries, users
    pub const BATCH = concat!("SELECT (SELECT hex(salt) FROM outbox), json_group_array(json(entry)), json_group_array(json(user)) FROM (
        SELECT json_object('entry', e.entry, 'transaction_id', e.transaction_id, 'nonce', hex(e.nonce), 'goal', e.goal,
            'after', e.after, 'at_ms', e.at_ms, 'payout', e.payout_micro_usd, 'movement', e.movement, 'delivery', e.delivery,
            'changed', (SELECT MAX(number) FROM changes WHERE number > ?1 AND number <= ?2 AND entry = e.entry),
            'erased', e.erase OR e.user_id IS NULL,
            'superseded', e.superseded, 'uncapped', e.uncapped, 'notice', e.notice, 'offer_terms', e.offer_terms,
            'app_terms', e.app_terms, 'placement', e.placement, 'txn', e.txn,
            'fields', json_remove(e.fields, ", identifiers!(), "),
            'conversion', json_array(json(c.names), c.state, c.entry, c.offer_terms, c.advertiser, hex(c.rewarded))) AS entry,
          CASE WHEN e.user_id IS NOT NULL AND NOT e.erase THEN json_object('user_id', e.user_id, 'reason', e.reason,
            'fields', json(e.fields)) END AS user
        FROM entries e JOIN conversions c ON c.nonce = e.nonce AND c.goal = e.goal
        WHERE e.entry IN (SELECT entry FROM entries WHERE entry > ?1 AND entry <= ?2
          UNION ALL SELECT entry FROM entries WHERE movement <> entry AND movement > ?1 AND movement <= ?2
          UNION ALL SELECT entry FROM changes WHERE number > ?1 AND number <= ?2)
        ORDER BY e.entry)");
    /// first number (exclusive), last number (inclusive) → JSON list of claims of txns and of erased users
    pub const CLAIMS = "SELECT json_group_array(json(claim)) FROM changes WHERE number > ? AND number <= ? AND claim IS NOT NULL";
    pub const GET_MARK = "SELECT MAX(number) FROM journal WHERE source = ?";
    pub const ADD = "INSERT INTO journal (number, source, salt, users, txns, entries) VALUES (?, ?, ?, ?, ?, ?)";
    /// source, JSON list of a batch's entries: forgets the users of earlier entries that the list marks as erased
    pub const FORGET_ERASED = "WITH gone AS MATERIALIZED
          (SELECT value ->> '$.entry' AS entry FROM json_each(?2) WHERE value ->> '$.erased')
        UPDATE journal SET users = (SELECT json_group_array(
            IIF(value ->> '$.entry' IN (SELECT entry FROM gone), NULL, json(journal.users -> key))) FROM json_each(entries))
        WHERE number >= (SELECT MIN(entry) FROM gone) AND source = ?1 AND users IS NOT NULL
          AND EXISTS (SELECT 1 FROM json_each(entries) WHERE value ->> '$.entry' IN (SELECT entry FROM gone))";
    pub const NEXT = "SELECT number, salt, users, txns, entries FROM journal WHERE source = ? AND number > ?
        ORDER BY number LIMIT 1";
    /// number before which claims are deleted, number before which changes of entries are deleted. The row with the
    /// last number stays, so that the log keeps its last number
    pub const SWEEP_CHANGES = "DELETE FROM changes WHERE number < ? AND (entry IS NULL OR number < ?)
        AND number < (SELECT MAX(number) FROM changes)";
    /// number: forgets the users of earlier batches
    pub const FORGET_USERS = "UPDATE journal SET users = NULL WHERE number < ? AND users IS NOT NULL";
    /// number: deletes earlier batches. A journal's last batch stays, because its number shows how far the
    /// journal goes
    pub const SWEEP = "DELETE FROM journal WHERE number < ?
        AND number < (SELECT MAX(j.number) FROM journal j WHERE j.source = journal.source)";

    /// app, shard, number of outboxes, salt, current time. The hold of a refilled conversion may have ended since, so held
    /// conversions are re-evaluated
    pub const PUT_OUTBOX = "INSERT INTO outbox (only, app, shard, outbox_shards, salt, refilled_ms)
        VALUES (1, ?, ?, ?, unhex(?), ?)
        ON CONFLICT (only) DO UPDATE SET salt = excluded.salt, refilled_ms = excluded.refilled_ms,
          released = 0";
    /// JSON list of entries → users in the restored copy who were erased after the copy was made
    pub const ERASED_USERS = "SELECT DISTINCT user_id FROM entries WHERE user_id IS NOT NULL
        AND entry IN (SELECT value ->> '$.entry' FROM json_each(?) WHERE value ->> '$.erased')";
    /// JSON list of entries, number (exclusive), current time. An undelivered callback becomes due or, if its user is
    /// missing, a dead letter. If the journal has forgotten a user, the user in the restored copy stays
    pub const PUT_ENTRIES = concat!("INSERT OR IGNORE INTO entries (entry, transaction_id, nonce, goal, after, at_ms, payout_micro_usd,
          movement, delivery, due_ms, erase, superseded, uncapped, notice, reason, offer_terms, app_terms, placement, user_id, txn,
          fields)
        SELECT e ->> '$.entry', e ->> '$.transaction_id', unhex(e ->> '$.nonce'), e ->> '$.goal', e ->> '$.after', e ->> '$.at_ms',
          e ->> '$.payout', e ->> '$.movement', IIF(e ->> '$.user_id' IS NULL AND e ->> '$.delivery' = 0, 2, e ->> '$.delivery'),
          IIF(e ->> '$.user_id' IS NOT NULL AND e ->> '$.delivery' = 0, ?3, NULL), COALESCE(e ->> '$.erased', 0), e ->> '$.superseded', e ->> '$.uncapped',
          e ->> '$.notice', e ->> '$.reason', e ->> '$.offer_terms', e ->> '$.app_terms', e ->> '$.placement', e ->> '$.user_id',
          e ->> '$.txn', e -> '$.fields' ", lost!(), "
        ON CONFLICT (entry) DO UPDATE SET payout_micro_usd = excluded.payout_micro_usd, movement = excluded.movement,
          delivery = excluded.delivery, due_ms = excluded.due_ms, superseded = excluded.superseded,
          erase = excluded.erase, uncapped = excluded.uncapped, txn = excluded.txn,
          reason = IIF(excluded.erase OR excluded.user_id IS NOT NULL, excluded.reason, reason),
          user_id = IIF(excluded.erase OR excluded.user_id IS NOT NULL, excluded.user_id, user_id),
          fields = IIF(excluded.erase OR excluded.user_id IS NOT NULL, excluded.fields, fields)");
    /// JSON list of entries: blanks the receivers' answers for entries whose user was erased, because the answers may
    /// name the user
    pub const BLANK_ATTEMPTS = concat!("UPDATE attempts SET ", blank_attempt!(), " WHERE (body <> '' OR error IS NOT NULL)
        AND entry IN (SELECT value ->> '$.entry' FROM json_each(?) WHERE value ->> '$.erased')");
    pub const BLANK_FIRSTS = concat!("UPDATE entries SET ", blank_first_attempt!(), " WHERE first_at_ms IS NOT NULL
        AND entry IN (SELECT value ->> '$.entry' FROM json_each(?) WHERE value ->> '$.erased')");
    /// JSON list of entries, number (exclusive)
    pub const PUT_CHANGES = concat!("INSERT OR IGNORE INTO changes (number, entry)
        SELECT e ->> '$.changed', e ->> '$.entry' ", lost!(), " AND e ->> '$.changed' IS NOT NULL");
    /// JSON list of entries: deletes their reservations, because the journal's state of a conversion is newer
    pub const END_RESERVATIONS = "DELETE FROM reservations
        WHERE (nonce, goal) IN (SELECT unhex(value ->> '$.nonce'), value ->> '$.goal' FROM json_each(?))";
    /// JSON list of entries, number (exclusive). If the log has a conversion's entry under another number, because an
    /// undone restore had written the entry again, the log's own row stays
    pub const PUT_CONVERSIONS = concat!("INSERT INTO conversions (nonce, goal, names, state, entry, offer_terms, advertiser, rewarded)
        SELECT unhex(e ->> '$.nonce'), e ->> '$.goal', e -> '$.conversion[0]', e ->> '$.conversion[1]', e ->> '$.conversion[2]',
          e ->> '$.conversion[3]', e ->> '$.conversion[4]', unhex(NULLIF(e ->> '$.conversion[5]', '')) ", lost!(), "
          AND EXISTS (SELECT 1 FROM entries WHERE entry = e ->> '$.conversion[2]')
        ON CONFLICT (nonce, goal) DO UPDATE SET names = excluded.names, state = excluded.state, entry = excluded.entry,
          offer_terms = excluded.offer_terms, advertiser = excluded.advertiser, rewarded = excluded.rewarded
        WHERE excluded.entry >= conversions.entry");
    /// JSON list of claims and of erased users: adds the claims
    pub const PUT_CLAIMS = "INSERT INTO txns (advertiser, goal, txn, nonce, number, at_ms)
        SELECT value ->> 0, value ->> 1, value ->> 2, unhex(value ->> 3), value ->> 4, value ->> 5 FROM json_each(?)
        WHERE json_array_length(value) > 2
        ON CONFLICT (advertiser, goal, txn) DO UPDATE SET nonce = excluded.nonce, number = excluded.number, at_ms = excluded.at_ms";
}
