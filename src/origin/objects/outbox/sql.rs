//! The outbox's statements. A bound integer arrives as a double; integers that a statement computes with are compared with
//! or stored in STRICT columns, which convert them back.

/// An entry with its conversion and, for a reversal, the reward's transaction id.
macro_rules! entry_columns {
    () => {
        "SELECT e.entry, e.transaction_id, e.delivery, e.due_ms, IIF(e.erase, NULL, e.user_id), e.txn, e.fields, c.state,
          r.transaction_id, e.erase, IIF(e.erase, NULL, e.reason), e.notice
        FROM entries e JOIN conversions c ON c.nonce = e.nonce AND c.goal = e.goal
        LEFT JOIN entries r ON r.entry = e.after "
    };
}

/// The columns of callbacks that their attempts need.
macro_rules! callbacks {
    () => {
        "SELECT entry, attempts_made, fields, (SELECT callback_revision FROM outbox), (SELECT enabled_ms FROM outbox),
          notice IS 0 AND NOT EXISTS (SELECT 1 FROM conversions c
            WHERE c.nonce = entries.nonce AND c.goal = entries.goal AND (c.state = 0 OR c.state >= 20)), due_ms
        FROM entries "
    };
}

/// An entry's status as a number: 0 pending, 1 approved, 2 rejected, 3 reversed, 4 held, 5 refused. A notice has none,
/// because its conversion is listed itself.
macro_rules! entry_status {
    () => {
        "CASE WHEN e.notice IS NOT NULL THEN NULL WHEN e.after IS NOT NULL OR c.state = 4 THEN 3 WHEN c.state >= 20 THEN 4 WHEN c.state >= 10 THEN 5 ELSE c.state END"
    };
}

/// True if an entry has a reason: one in words, or the one for which its conversion is held or was refused.
macro_rules! with_reason {
    () => {
        "(?5 IS NULL OR e.reason = ?5 OR (e.after IS NULL AND c.state IN (?6, ?7)))"
    };
}

/// A number above all numbers of the log, and above those that receivers of batches have from before a restore.
macro_rules! next_number {
    ($lowest:literal, $step:literal) => {
        concat!(
            "MAX(",
            $lowest,
            ", ",
            $step,
            " + MAX(COALESCE((SELECT MAX(entry) FROM entries), 0),
              COALESCE((SELECT MAX(movement) FROM entries WHERE movement <> entry), 0),
              COALESCE((SELECT MAX(number) FROM changes), 0), (SELECT highest FROM positions)))"
        )
    };
}

/// The entries of a range that may be deleted: their conversion waits for no cap, they were not paid after the range,
/// and neither their callback nor their reward's waits. A reward is deleted with its reversal, and a notice with its
/// conversion, once all receivers have its number.
macro_rules! to_sweep {
    () => {
        "WHERE e.entry > ?1 AND e.entry < ?2 AND e.delivery IS NOT 0 AND e.notice IS NULL
          AND NOT EXISTS (SELECT 1 FROM entries x WHERE x.after = e.entry AND (x.notice IS NULL OR x.entry > ?4))
          AND NOT EXISTS (SELECT 1 FROM entries r WHERE r.entry = e.after AND r.delivery = 0)
          AND NOT EXISTS (SELECT 1 FROM reservations v WHERE v.nonce = e.nonce AND v.goal = e.goal)
          AND (e.movement IS NULL OR e.movement < ?3)"
    };
}

/// The conversions of a range of entries that are pending or held, unless an approval waits for its cap.
macro_rules! to_expire {
    () => {
        "(state = 0 OR state >= 20)
          AND (nonce, goal) IN (SELECT nonce, goal FROM entries WHERE entry > ?1 AND entry <= ?2)
          AND (nonce, goal) NOT IN (SELECT nonce, goal FROM reservations)"
    };
}

/// True if a reward of an offer was paid between two seconds without a cap.
macro_rules! uncapped {
    () => {
        "e.uncapped AND e.fields ->> '$.offer_id' = ?2 AND e.fields ->> '$.conversion_ts' >= ?3
          AND e.fields ->> '$.conversion_ts' < ?4"
    };
}

/// The first attempts that are stored in the entries of a JSON list.
macro_rules! first_attempts {
    () => {
        "SELECT 0 AS attempt, entry, first_at_ms AS at_ms, first_ms AS ms, first_status AS http_status, first_body AS body,
            first_error AS error FROM entries WHERE entry IN (SELECT value FROM json_each(?1)) AND first_at_ms IS NOT NULL"
    };
}

platform::statements! {
    /// → app, shard, publisher, app's revision, its terms, terms since, callback's newest revision, callback's revision,
    /// callback, failures, resumes, disabled, outboxes, rewards of a user on a day,
    /// enabled, whether the publisher is suspended, the end of the holds after a restore, the last lost number
    pub const GET_STATE = "SELECT app, shard, publisher, app_revision, terms_revision, terms_since, callback_wanted,
          callback_revision, callback_sealed, failures, resumes_ms, disabled_ms, outbox_shards,
          max_rewards_per_user_day, enabled_ms, suspended, gap_until_ms, lost
        FROM outbox";
    pub const SET_CURRENT = "INSERT INTO outbox (only, app, shard, publisher, app_revision, terms_revision, terms_since,
          callback_wanted, outbox_shards, max_rewards_per_user_day)
        VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (only) DO UPDATE SET publisher = excluded.publisher, app_revision = excluded.app_revision,
          terms_revision = excluded.terms_revision, terms_since = excluded.terms_since,
          callback_wanted = excluded.callback_wanted, outbox_shards = excluded.outbox_shards,
          max_rewards_per_user_day = excluded.max_rewards_per_user_day";
    pub const CLAIM_APP = "INSERT INTO outbox (only, app, shard, outbox_shards) VALUES (1, ?, ?, ?)
        ON CONFLICT (only) DO UPDATE SET outbox_shards = COALESCE(outbox.outbox_shards, excluded.outbox_shards) RETURNING outbox_shards";
    pub const GET_CLAIM = "SELECT outbox_shards FROM outbox";
    /// callback's newest revision
    pub const WANT_SETTINGS = "UPDATE outbox SET callback_wanted = ?";
    /// app, shard, callback's revision, callback, 1 if the publisher is suspended and 2 if it is closed
    pub const SET_SETTINGS = "INSERT INTO outbox (only, app, shard, callback_revision, callback_sealed, suspended)
        VALUES (1, ?, ?, ?, ?, ?)
        ON CONFLICT (only) DO UPDATE SET
          callback_revision = excluded.callback_revision, callback_sealed = excluded.callback_sealed,
          suspended = excluded.suspended, released = CASE WHEN excluded.suspended THEN NULL WHEN suspended THEN 0 ELSE released END";
    /// → the last entry that was decided again since a hold ended, while there may be more
    pub const GET_RELEASED = "SELECT released FROM outbox";
    /// the same, callback's revision
    pub const SET_RELEASED = "UPDATE outbox SET released = ? WHERE callback_revision = ?";
    /// offer → revision, terms, terms since, conversion cap, fewest seconds to convert
    pub const GET_OFFER = "SELECT revision, terms_revision, terms_since, conversion_cap, min_seconds_to_convert FROM offers
        WHERE offer = ?";
    /// offer, revision, terms, terms since, conversion cap, fewest seconds to convert
    pub const PUT_OFFER = "INSERT INTO offers
          (offer, revision, terms_revision, terms_since, conversion_cap, min_seconds_to_convert)
        VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (offer) DO UPDATE SET revision = excluded.revision, terms_revision = excluded.terms_revision,
          terms_since = excluded.terms_since, conversion_cap = excluded.conversion_cap,
          min_seconds_to_convert = excluded.min_seconds_to_convert";
    pub const GET_TERMS = "SELECT terms FROM terms WHERE kind = ? AND id = ? AND revision = ?";
    pub const PUT_TERMS = "INSERT INTO terms (kind, id, revision, terms, learned_ms) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT DO NOTHING";
    pub const SET_ENABLED = "UPDATE outbox SET enabled_ms = MAX(enabled_ms, ?)";
    pub const SET_HEALTH = "UPDATE outbox SET failures = ?, resumes_ms = ?, disabled_ms = ?";
    /// nonce → for each conversion NULL, goal, names, state, entry, offer's terms, time of its first postback, advertiser; for
    /// each reservation its JSON and NULLs
    pub const OF_CLICK = "SELECT NULL, c.goal, c.names, c.state, c.entry, c.offer_terms, e.at_ms, c.advertiser
          FROM conversions c JOIN entries e ON e.entry = c.entry WHERE c.nonce = ?1
        UNION ALL SELECT approval, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM reservations WHERE nonce = ?1";
    pub const PUT_CONVERSION = "INSERT INTO conversions (nonce, goal, names, state, entry, offer_terms, advertiser, rewarded)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (nonce, goal) DO UPDATE SET names = excluded.names, state = excluded.state, entry = excluded.entry,
          offer_terms = excluded.offer_terms, advertiser = excluded.advertiser,
          rewarded = IIF(state = excluded.state, rewarded, excluded.rewarded)";
    pub const GET_SALT = "SELECT salt FROM outbox";
    /// key of a reward, nonce → whether another click has or may get the reward
    pub const IS_REWARDED = "SELECT EXISTS (SELECT 1 FROM conversions WHERE rewarded = ?1 AND nonce <> ?2)
        OR EXISTS (SELECT 1 FROM reservations WHERE rewarded = ?1 AND nonce <> ?2)";
    /// user, first second of a UTC day → rewards of the user on that day and later, without those taken back, and approvals that
    /// wait for their cap
    pub const COUNT_REWARDS = "SELECT (SELECT COUNT(*) FROM entries e JOIN conversions c ON c.entry = e.entry
            AND c.nonce = e.nonce AND c.goal = e.goal
          WHERE e.user_id = ?1 AND e.delivery IS NOT NULL AND c.state = 1 AND e.fields ->> '$.conversion_ts' >= ?2)
        + (SELECT COUNT(*) FROM reservations WHERE user_id = ?1)";
    /// advertiser, goal, txn, nonce, number, time → one row unless another click has the txn
    pub const CLAIM_TXN = "INSERT INTO txns (advertiser, goal, txn, nonce, number, at_ms) VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (advertiser, goal, txn) DO UPDATE SET number = MAX(number, excluded.number), at_ms = excluded.at_ms
          WHERE nonce = excluded.nonce RETURNING number";
    /// advertiser, goal, txn, nonce → whether no other click has the txn
    pub const TXN_IS_FREE = "SELECT NOT EXISTS (
        SELECT 1 FROM txns WHERE advertiser = ? AND goal = ? AND txn = ? AND nonce <> ?)";
    /// advertiser, goal, txn, nonce, number: ends the claim and the click's earlier ones
    pub const FREE_TXN = "DELETE FROM txns
        WHERE advertiser = ? AND goal = ? AND txn = ? AND nonce = ? AND number <= ?";
    pub const QUEUE_FREE = "INSERT INTO txns_to_free (number, due_ms, txn) VALUES (?, ?, ?)";
    /// time, claims at most → number, attempts, claim
    pub const DUE_FREES = "SELECT number, attempts, txn FROM txns_to_free WHERE due_ms <= ? ORDER BY number LIMIT ?";
    pub const PUT_FREE_OFF = "UPDATE txns_to_free SET due_ms = ?, attempts = ? WHERE number = ?";
    pub const FREED = "DELETE FROM txns_to_free WHERE number = ?";
    /// → a number that no other claim of this outbox has
    pub const NEXT_CLAIM = "UPDATE outbox SET claims = claims + 1 RETURNING claims";
    /// reservations at most → the number of a new one, if there is room
    pub const NEXT_RESERVATION = "SELECT random() & 9007199254740991 WHERE (SELECT COUNT(*) FROM reservations) < ?
        AND (SELECT COUNT(*) FROM reservations WHERE offer = ?) < ?";
    pub const RESERVE = "INSERT INTO reservations (nonce, goal, due_ms, attempts, number, offer, user_id, approval, rewarded)
        VALUES (?, ?, ?, 0, ?, ?, ?, ?, ?)";
    /// nonce, goal, number → whether its user must be erased; no row if there is no such reservation
    pub const END_RESERVATION = "DELETE FROM reservations WHERE nonce = ? AND goal = ? AND number = ? RETURNING erase";
    /// time, reservations at most → attempts, reservation
    pub const DUE_RESERVATIONS = "SELECT attempts, approval FROM reservations WHERE due_ms <= ? ORDER BY due_ms LIMIT ?";
    /// due, attempts, nonce, goal, number → one row if there is such a reservation
    pub const PUT_RESERVATION_OFF = "UPDATE reservations SET due_ms = ?, attempts = ?
        WHERE nonce = ? AND goal = ? AND number = ? RETURNING goal";
    pub const KEEP_POSTBACK = "INSERT INTO kept (nonce, goal, status, advertiser, user_id, lacks, at_ms, due_ms, postback)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (nonce, goal, status, advertiser) DO UPDATE SET lacks = excluded.lacks WHERE lacks <> excluded.lacks";
    /// time, postbacks at most → number, attempts, lost terms
    pub const DUE_KEPT = "SELECT number, attempts, lacks FROM kept WHERE due_ms <= ? ORDER BY due_ms LIMIT ?";
    pub const GET_KEPT = "SELECT postback FROM kept WHERE number = ?";
    pub const PUT_KEPT_OFF = "UPDATE kept SET due_ms = ?, attempts = attempts + 1 WHERE number = ?";
    /// number → one row if there is such a postback
    pub const DROP_KEPT = "DELETE FROM kept WHERE number = ? RETURNING number";
    pub const DROP_KEPT_OF_USER = "DELETE FROM kept WHERE user_id = ?";
    pub const MARK_RESERVATIONS = "UPDATE reservations SET erase = 1 WHERE user_id = ? RETURNING erase";
    pub const MARK_ENTRY = "UPDATE entries SET erase = 1 WHERE transaction_id = ? AND user_id IS NOT NULL RETURNING entry";
    pub const FIRST_WAITING = "SELECT MIN(due_ms) FROM (SELECT MIN(due_ms) AS due_ms FROM reservations
        UNION ALL SELECT MIN(due_ms) FROM txns_to_free UNION ALL SELECT MIN(due_ms) FROM kept
        UNION ALL SELECT gap_until_ms FROM outbox UNION ALL SELECT 0 FROM outbox WHERE erasing IS NOT NULL)";
    /// lowest number, numbers between two entries, transaction id, nonce, goal, after, time, payout, delivery, due, erase,
    /// superseded, uncapped, notice, reason, the click's terms of the offer and of the app, its placement, user, txn, fields
    /// → entry
    pub const ENTER = concat!("INSERT INTO entries
        (entry, movement, transaction_id, nonce, goal, after, at_ms, payout_micro_usd, delivery, due_ms, erase, superseded, uncapped,
          notice, reason, offer_terms, app_terms, placement, user_id, txn, fields)
        SELECT number, IIF(?9 IS NULL OR ?14 IS NOT NULL, NULL, number),
          ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21
        FROM (SELECT ", next_number!("?1", "?2"), " AS number)
        RETURNING entry");
    /// entry, user, txn, fields, reason: marks a user that was erased to be erased again
    pub const AMEND = concat!("UPDATE entries SET erase = ", is_erased!(), ", user_id = ?2, txn = ?3, fields = ?4, reason = ?5
        WHERE entry = ?1");
    /// lowest number, numbers between two of the log, entry or NULL, claim, erased user or NULL
    pub const CHANGE = concat!("INSERT INTO changes (number, entry, claim) VALUES (", next_number!("?1", "?2"), ", ?3, ?4)");
    /// lowest number, numbers between two of the log, user: each of its entries that is not erased yet
    pub const CHANGE_USER = concat!("INSERT INTO changes (number, entry)
        SELECT first + step * (ROW_NUMBER() OVER (ORDER BY entry) - 1), entry
        FROM entries, (SELECT ", next_number!("?1", "?2"), " AS first, CAST(?2 AS INTEGER) AS step) WHERE user_id = ?3 AND erase = 0");
    /// entry → whether its user was erased
    pub const HAS_NO_USER = "SELECT user_id IS NULL FROM entries WHERE entry = ?";
    /// entry → whether its user was erased or must be
    pub const IS_ERASED = concat!("SELECT ", is_erased!(), " FROM entries WHERE entry = ?");
    pub const SET_REASON = "UPDATE entries SET reason = ? WHERE entry = ?";
    /// after this entry, last entry, status, conversions at most, reason or NULL, its numbers as refused and as held, user or
    /// NULL, offer or NULL, first second, second after the last → entry, transaction id
    pub const LIST_TO_SETTLE = concat!("SELECT e.entry, e.transaction_id,
          CAST(ROUND(COALESCE(e.fields ->> '$.payout', 0) * 1000000) AS INTEGER)
        FROM entries e JOIN conversions c ON c.entry = e.entry AND c.nonce = e.nonce AND c.goal = e.goal
        WHERE e.entry > ?1 AND e.entry <= ?2 AND ", entry_status!(), " = ?3 AND ", with_reason!(), "
          AND (?8 IS NULL OR e.user_id = ?8) AND (?9 IS NULL OR e.fields ->> '$.offer_id' = ?9)
          AND e.fields ->> '$.conversion_ts' >= ?10 AND e.fields ->> '$.conversion_ts' < ?11
        ORDER BY e.entry LIMIT ?4");
    /// transaction id → nonce, names of the goal, user, txn, terms of the click's offer and app, its placement, fields, state,
    /// reason; no row for a reversal or a notice
    pub const GET_TO_SETTLE = "SELECT e.nonce, c.names, e.user_id, e.txn, e.offer_terms, e.app_terms, e.placement, e.fields, c.state,
          e.reason
        FROM entries e JOIN conversions c ON c.entry = e.entry AND c.nonce = e.nonce AND c.goal = e.goal
        WHERE e.transaction_id = ?";
    /// payout, time, transaction id, superseded, uncapped, lowest number, numbers between two of the log
    /// → entry
    pub const PAY = concat!("UPDATE entries SET payout_micro_usd = ?1, delivery = 0, due_ms = ?2, superseded = ?4, uncapped = ?5,
          movement = ", next_number!("?6", "?7"), " WHERE transaction_id = ?3 RETURNING entry");
    /// transaction id → entry, payout, delivery, fields, whether its user was erased or must be
    pub const GET_PAID = concat!("SELECT entry, payout_micro_usd, delivery, fields, ", is_erased!(), "
        FROM entries WHERE transaction_id = ?");

    /// time, callbacks at most → entry, attempts made, fields, callback's revision, when its endpoint was switched on
    /// again, whether it is the notice of a conversion that is no longer pending, due
    pub const DUE = concat!(callbacks!(), "WHERE delivery = 0 AND due_ms <= ? ORDER BY due_ms LIMIT ?");
    /// JSON list of entries → the same, for those that had no attempt yet
    pub const CLAIMED_AHEAD = concat!(callbacks!(), "WHERE entry IN (SELECT value FROM json_each(?)) AND delivery = 0
        AND attempts_made = 0 AND due_ms IS NOT NULL");
    pub const SKIP = "UPDATE entries SET delivery = 3 WHERE entry = ? AND delivery = 0";
    /// time, JSON list of entries
    pub const CLAIM = "UPDATE entries SET due_ms = ? WHERE entry IN (SELECT value FROM json_each(?))";
    /// now, at most → how many callbacks are due
    pub const COUNT_DUE = "SELECT COUNT(*) FROM (SELECT 1 FROM entries WHERE delivery = 0 AND due_ms <= ? LIMIT ?)";
    pub const FIRST_DUE = "SELECT MIN(due_ms) FROM entries WHERE delivery = 0 AND due_ms IS NOT NULL";
    /// delivery, due, attempts made, entry, attempts made when it was claimed → one row unless it was ended or replayed
    /// meanwhile
    pub const CONCLUDE = "UPDATE entries SET delivery = ?1, due_ms = ?2, attempts_made = ?3
        WHERE entry = ?4 AND delivery = 0 AND (attempts_made = ?5 OR ?1 = 1) RETURNING entry";
    /// the same, time of the attempt, milliseconds, status, body, error, the earliest entry that keeps its first attempt itself →
    /// one row if it was that. The body may name the user, so it is left out once the user is erased.
    pub const CONCLUDE_FIRST = concat!("UPDATE entries SET delivery = ?1, due_ms = ?2, attempts_made = ?3, first_at_ms = ?6, first_ms = ?7,
          first_status = ?8, first_body = IIF(", is_erased!(), ", '', ?9), first_error = IIF(", is_erased!(), ", ", first_words!("?10"), ", ?10)
        WHERE entry = ?4 AND delivery = 0 AND attempts_made = ?5 AND ?5 = 0 AND first_at_ms IS NULL AND entry >= ?11
          AND NOT EXISTS (SELECT 1 FROM attempts WHERE entry = ?4) RETURNING entry");
    /// entry, time of the attempt, milliseconds, status, body, error. The body may name the user, so it is left out
    /// once the user is erased.
    pub const ADD_ATTEMPT = concat!("INSERT INTO attempts (entry, at_ms, ms, http_status, body, error)
        SELECT ?1, ?2, ?3, ?4, IIF(", is_erased!(), ", '', ?5), IIF(", is_erased!(), ", ", first_words!("?6"), ", ?6) FROM entries WHERE entry = ?1");
    /// time, entry of the reward whose callback has ended: makes its reversal due
    pub const RELEASE_REVERSAL = "UPDATE entries SET due_ms = ? WHERE after = ? AND delivery = 0 AND due_ms IS NULL";
    /// time, latest end of a claim
    pub const RELEASE_ALL = "UPDATE entries SET due_ms = MIN(due_ms, ?1), attempts_made = 0
        WHERE delivery = 0 AND (due_ms IS NULL OR due_ms <= ?1 OR due_ms > ?2) AND (attempts_made > 0 OR due_ms > ?2)";
    /// time of the replay: lets replayed reversals wait if their reward's callback waits, replayed or not
    pub const HOLD_REVERSALS = "UPDATE entries SET due_ms = NULL WHERE delivery = 0 AND due_ms = ?
        AND after IS NOT NULL AND notice IS NULL AND EXISTS (SELECT 1 FROM entries r WHERE r.entry = entries.after AND r.delivery = 0)";

    /// before this entry, entries to skip → the entry after them
    pub const ENTRY_BEFORE = "SELECT entry FROM entries WHERE entry < ? ORDER BY entry DESC LIMIT 1 OFFSET ?";
    /// after this entry, entries to skip → the entry after them
    pub const ENTRY_AFTER = "SELECT entry FROM entries WHERE entry > ? ORDER BY entry LIMIT 1 OFFSET ?";
    /// before this entry, status or NULL, delivery or NULL, entries at most, reason or NULL, its numbers as refused and as held,
    /// first entry examined → see `log`
    pub const LIST = concat!(entry_columns!(), "WHERE e.entry < ?1 AND e.entry >= ?8
        AND (?2 IS NULL OR ?2 = ", entry_status!(), ") AND (?3 IS NULL OR e.delivery = ?3) AND ", with_reason!(), "
        ORDER BY e.entry DESC LIMIT ?4");
    /// The same over the whole log for dead letters, which are few.
    pub const LIST_FEW = concat!(entry_columns!(), "WHERE e.delivery = 2 AND ?3 = 2 AND e.entry < ?1
        AND (?2 IS NULL OR ?2 = ", entry_status!(), ") AND ", with_reason!(), "
        ORDER BY e.entry DESC LIMIT ?4");
    /// The same for a user, whose id is the last parameter.
    pub const LIST_OF_USER = concat!(entry_columns!(), "WHERE e.user_id = ?8 AND NOT e.erase AND e.entry < ?1
        AND (?2 IS NULL OR ?2 = ", entry_status!(), ") AND (?3 IS NULL OR e.delivery = ?3) AND ", with_reason!(), "
        ORDER BY e.entry DESC LIMIT ?4");
    /// transaction id → see `log`
    pub const GET_ENTRY = concat!(entry_columns!(), "WHERE e.transaction_id = ?");
    /// transaction id of a reward, its reversal or a notice → all of them, the reward first: its story's columns, attempts
    pub const GET_STORY = concat!("SELECT ", story_columns!(), ", (e.first_at_ms IS NOT NULL) + (SELECT COUNT(*) FROM attempts a WHERE a.entry = e.entry)
        FROM (SELECT COALESCE(after, entry) AS reward FROM entries WHERE transaction_id = ?) f
        JOIN entries e ON e.entry = f.reward OR e.after = f.reward
        JOIN conversions c ON c.nonce = e.nonce AND c.goal = e.goal ORDER BY e.after IS NOT NULL, e.entry");
    pub const LIST_OF_CLICK = "SELECT e.transaction_id, c.goal, c.state FROM conversions c JOIN entries e ON e.entry = c.entry
        WHERE c.nonce = ? ORDER BY e.entry";
    /// JSON list of entries → entry, time of the attempt, milliseconds, status, body, error
    pub const LIST_ATTEMPTS = concat!("SELECT entry, at_ms, ms, http_status, body, error FROM (", first_attempts!(), "
          UNION ALL SELECT attempt, entry, at_ms, ms, http_status, body, error FROM attempts
            WHERE entry IN (SELECT value FROM json_each(?1))) ORDER BY attempt");
    /// JSON list of entries, attempts of each at most → the same for the newest attempts
    pub const NEWEST_ATTEMPTS = concat!("SELECT entry, at_ms, ms, http_status, body, error FROM (", first_attempts!(), "
            AND (SELECT COUNT(*) FROM attempts a WHERE a.entry = entries.entry) < ?2
          UNION ALL SELECT a.attempt, a.entry, a.at_ms, a.ms, a.http_status, a.body, a.error
            FROM json_each(?1) JOIN attempts a ON a.attempt IN
              (SELECT attempt FROM attempts WHERE entry = json_each.value ORDER BY attempt DESC LIMIT ?2))
        ORDER BY attempt");
    /// → callbacks that wait, callbacks that are dead, reservations
    pub const COUNT_STANDING = "SELECT (SELECT COUNT(*) FROM entries WHERE delivery = 0),
        (SELECT COUNT(*) FROM entries WHERE delivery = 2), (SELECT COUNT(*) FROM reservations)";

    pub const GET_SWEEP = "SELECT day, entry FROM nights";
    pub const SET_SWEEP = "UPDATE nights SET day = ?, entry = ?";
    /// attempts examined, first time kept
    pub const SWEEP_ATTEMPTS = "DELETE FROM attempts WHERE attempt IN
        (SELECT attempt FROM (SELECT attempt, at_ms FROM attempts ORDER BY attempt LIMIT ?) WHERE at_ms < ?)";
    /// after this entry, before this one, entries at most → the last of them, and their number
    pub const FIRSTS_TO_SWEEP = "SELECT MAX(entry), COUNT(*) FROM
        (SELECT entry FROM entries WHERE entry > ? AND entry < ? ORDER BY entry LIMIT ?)";
    /// after this entry, up to this one: their first attempts
    pub const SWEEP_FIRSTS = "UPDATE entries SET first_at_ms = NULL, first_ms = NULL, first_status = NULL, first_body = NULL,
          first_error = NULL WHERE entry > ? AND entry <= ? AND first_at_ms IS NOT NULL";
    /// → the last entry whose first attempt was swept
    pub const GET_FIRSTS_SWEPT = "SELECT firsts FROM nights";
    pub const SET_FIRSTS_SWEPT = "UPDATE nights SET firsts = ?";
    /// first time kept, txns at most
    pub const SWEEP_TXNS = "DELETE FROM txns WHERE (advertiser, goal, txn) IN
        (SELECT advertiser, goal, txn FROM txns WHERE at_ms < ? LIMIT ?)";
    /// first time kept, terms at most: deletes terms that were superseded here before that time, since no later click
    /// has them
    pub const SWEEP_TERMS = "DELETE FROM terms WHERE (kind, id, revision) IN
        (SELECT t.kind, t.id, t.revision FROM terms n
          JOIN terms t ON t.kind = n.kind AND t.id = n.id AND t.revision < n.revision
          WHERE n.learned_ms < ? LIMIT ?)";
    /// postbacks examined, first time kept: deletes postbacks whose lost terms nobody has entered
    pub const SWEEP_KEPT = "DELETE FROM kept WHERE number IN
        (SELECT number FROM (SELECT number, at_ms FROM kept ORDER BY number LIMIT ?) WHERE at_ms < ?)";
    /// first time of attempts kept, of txns and postbacks kept
    pub const MORE_TO_SWEEP = "SELECT
        EXISTS (SELECT 1 FROM (SELECT at_ms FROM attempts ORDER BY attempt LIMIT 1) WHERE at_ms < ?1)
        OR EXISTS (SELECT 1 FROM txns WHERE at_ms < ?2)
        OR EXISTS (SELECT 1 FROM (SELECT at_ms FROM kept ORDER BY number LIMIT 1) WHERE at_ms < ?2)";
    /// after this entry, before this one, entries at most → the last of them
    pub const LAST_TO_SWEEP = "SELECT MAX(entry) FROM
        (SELECT entry FROM entries WHERE entry > ? AND entry < ? ORDER BY entry LIMIT ?)";
    /// after this entry, last entry: gives pending and held entries the reason `expired`, before they are rejected
    pub const GIVE_EXPIRED = concat!("UPDATE entries SET reason = 'expired' WHERE entry IN
        (SELECT entry FROM conversions WHERE ", to_expire!(), ")");
    /// after this entry, last entry
    pub const EXPIRE = concat!("UPDATE conversions SET state = 2 WHERE ", to_expire!());
    /// after this entry, before this one, number before which everything may leave, last number that all receivers have
    pub const SWEEP_CONVERSIONS = concat!("DELETE FROM conversions WHERE (nonce, goal) IN
        (SELECT nonce, goal FROM entries e ", to_sweep!(), ")");
    /// the same
    pub const SWEEP_THEIR_ATTEMPTS = concat!("DELETE FROM attempts WHERE entry IN (
        WITH swept AS (SELECT entry FROM entries e ", to_sweep!(), " UNION ALL SELECT after FROM entries e ", to_sweep!(), ")
        SELECT entry FROM swept
        UNION ALL SELECT n.entry FROM swept s JOIN entries n ON n.after = s.entry AND n.notice IS NOT NULL)");
    /// the same: deletes the notices of swept conversions
    pub const SWEEP_NOTICES = concat!("DELETE FROM entries WHERE notice IS NOT NULL AND after IN
        (SELECT entry FROM entries e ", to_sweep!(), " UNION ALL SELECT after FROM entries e ", to_sweep!(), ")");
    /// the same: deletes the rewards whose reversals are swept
    pub const SWEEP_REVERSED = concat!("DELETE FROM entries WHERE entry IN
        (SELECT after FROM entries e ", to_sweep!(), " AND after IS NOT NULL)");
    /// the same
    pub const SWEEP_ENTRIES = concat!("DELETE FROM entries WHERE entry IN (SELECT entry FROM entries e ", to_sweep!(), ")");
    /// first number of a UTC day, offer, the day's first second, the second after its last → rewards of the offer that were
    /// paid on the day without a cap
    pub const COUNT_UNCAPPED = concat!("SELECT (SELECT COUNT(*) FROM entries e WHERE e.entry >= ?1 AND ", uncapped!(), ")
        + (SELECT COUNT(*) FROM entries e WHERE e.movement <> e.entry AND e.movement >= ?1 AND e.entry < ?1 AND ", uncapped!(), ")");
    /// first UTC day kept
    pub const SWEEP_REWARD_COUNTS = "DELETE FROM reward_counts WHERE day < ?";
    pub const ANYTHING_KEPT = "SELECT EXISTS (SELECT 1 FROM entries) OR EXISTS (SELECT 1 FROM txns) OR EXISTS (SELECT 1 FROM kept) OR EXISTS (SELECT 1 FROM journal)
        OR EXISTS (SELECT 1 FROM erased)";
}
