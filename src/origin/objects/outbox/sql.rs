//! The outbox's statements. A bound integer arrives as a double. If a statement computes with it, the result is
//! compared with a STRICT column or stored in one, which converts it back.

/// An entry with its conversion and, for a reversal, the reward's transaction id.
macro_rules! entry_columns {
    () => {
        "SELECT e.entry, e.transaction_id, e.delivery, e.due_ms, IIF(e.erase, NULL, e.user_id), e.txn, e.fields, c.state,
          r.transaction_id, e.erase, IIF(e.erase, NULL, e.reason), e.notice
        FROM entries e JOIN conversions c ON c.nonce = e.nonce AND c.goal = e.goal
        LEFT JOIN entries r ON r.entry = e.after "
    };
}

/// The columns of a callback that an attempt needs.
macro_rules! callbacks {
    () => {
        "SELECT entry, attempts_made, fields, (SELECT callback_revision FROM outbox), (SELECT enabled_ms FROM outbox),
          notice IS 0 AND NOT EXISTS (SELECT 1 FROM conversions c
            WHERE c.nonce = entries.nonce AND c.goal = entries.goal AND (c.state = 0 OR c.state >= 20)), due_ms,
          notice IS NULL AND EXISTS (SELECT 1 FROM entries r WHERE r.entry = entries.after AND r.delivery = 0)
        FROM entries "
    };
}

/// An entry's status as a number: 0 pending, 1 approved, 2 rejected, 3 reversed, 4 held, 5 refused. A notice has no
/// status, because its conversion is listed itself.
macro_rules! entry_status {
    () => {
        "CASE WHEN e.notice IS NOT NULL THEN NULL WHEN e.after IS NOT NULL OR c.state = 4 THEN 3 WHEN c.state >= 20 THEN 4 WHEN c.state >= 10 THEN 5 ELSE c.state END"
    };
}

/// True if an entry has the reason `?5`: as its text, or as the code for which its conversion is held or was refused.
macro_rules! with_reason {
    () => {
        "(?5 IS NULL OR e.reason = ?5 OR (e.after IS NULL AND c.state IN (?6, ?7)))"
    };
}

/// A number above all numbers of the log, and above all numbers that receivers of batches know from before a restore.
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
/// and neither their own callback nor the callback of their reward waits. A reward is deleted with its reversal. A
/// notice is deleted with its conversion, once all receivers have the notice's number.
macro_rules! to_sweep {
    () => {
        "WHERE e.entry > ?1 AND e.entry < ?2 AND e.delivery IS NOT 0 AND e.notice IS NULL
          AND NOT EXISTS (SELECT 1 FROM entries x WHERE x.after = e.entry AND (x.notice IS NULL OR x.entry > ?4))
          AND NOT EXISTS (SELECT 1 FROM entries r WHERE r.entry = e.after AND r.delivery = 0)
          AND NOT EXISTS (SELECT 1 FROM reservations v WHERE v.nonce = e.nonce AND v.goal = e.goal)
          AND (e.movement IS NULL OR e.movement < ?3)"
    };
}

/// The pending and held conversions of a range of entries, unless an approval of the conversion waits for the cap.
macro_rules! to_expire {
    () => {
        "(state = 0 OR state >= 20)
          AND (nonce, goal) IN (SELECT nonce, goal FROM entries WHERE entry > ?1 AND entry <= ?2)
          AND (nonce, goal) NOT IN (SELECT nonce, goal FROM reservations)"
    };
}

/// True if a reward of the offer `?2` was paid without a cap, from the second `?3` (inclusive) to `?4` (exclusive).
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
    /// → app, shard, publisher, revision of the app, revision of the app's terms, since when these terms apply, newest
    /// known revision of the callback settings, stored revision of the callback settings, callback settings, failures,
    /// time when attempts resume, time when the endpoint disabled itself, number of outboxes, maximum rewards of a user
    /// on a day, time when the endpoint was last enabled again, whether the publisher is suspended (1) or closed (2),
    /// end of the holds after a restore, last lost number, time when the outbox last wrote again what a restore had
    /// lost
    pub const GET_STATE = "SELECT app, shard, publisher, app_revision, terms_revision, terms_since, callback_wanted,
          callback_revision, callback_sealed, failures, resumes_ms, disabled_ms, outbox_shards,
          max_rewards_per_user_day, enabled_ms, suspended, gap_until_ms, lost, refilled_ms
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
    /// newest known revision of the callback settings
    pub const WANT_SETTINGS = "UPDATE outbox SET callback_wanted = ?";
    /// app, shard, revision of the callback settings, callback settings, 1 if the publisher is suspended or 2 if it is
    /// closed
    pub const SET_SETTINGS = "INSERT INTO outbox (only, app, shard, callback_revision, callback_sealed, suspended)
        VALUES (1, ?, ?, ?, ?, ?)
        ON CONFLICT (only) DO UPDATE SET
          callback_revision = excluded.callback_revision, callback_sealed = excluded.callback_sealed,
          suspended = excluded.suspended, released = CASE WHEN excluded.suspended THEN NULL WHEN suspended THEN 0 ELSE released END";
    /// callback settings of the stored revision: replaces the stored text if another key has sealed them
    pub const RESEAL_SETTINGS = "UPDATE outbox SET callback_sealed = ?1 WHERE callback_sealed <> ?1";
    /// → last entry that was re-evaluated since a hold ended; NULL if no entries are left to re-evaluate
    pub const GET_RELEASED = "SELECT released FROM outbox";
    /// last re-evaluated entry or NULL, revision of the callback settings: changes nothing if other settings were
    /// stored since
    pub const SET_RELEASED = "UPDATE outbox SET released = ? WHERE callback_revision = ?";
    pub const FORGET_SETTINGS = "UPDATE outbox SET callback_revision = -1";
    pub const FORGET_OFFERS = "DELETE FROM offers";
    /// offer → revision, revision of the terms, since when these terms apply, conversion cap, minimum seconds to
    /// convert
    pub const GET_OFFER = "SELECT revision, terms_revision, terms_since, conversion_cap, min_seconds_to_convert FROM offers
        WHERE offer = ?";
    /// offer, revision, revision of the terms, since when these terms apply, conversion cap, minimum seconds to convert
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
    /// nonce → for each conversion: NULL, goal, names, state, entry, revision of the offer's terms, time of the first
    /// postback, advertiser; for each reservation: its JSON, NULLs
    pub const OF_CLICK = "SELECT NULL, c.goal, c.names, c.state, c.entry, c.offer_terms, e.at_ms, c.advertiser
          FROM conversions c JOIN entries e ON e.entry = c.entry WHERE c.nonce = ?1
        UNION ALL SELECT approval, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM reservations WHERE nonce = ?1";
    pub const PUT_CONVERSION = "INSERT INTO conversions (nonce, goal, names, state, entry, offer_terms, advertiser, rewarded)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (nonce, goal) DO UPDATE SET names = excluded.names, state = excluded.state, entry = excluded.entry,
          offer_terms = excluded.offer_terms, advertiser = excluded.advertiser,
          rewarded = IIF(state = excluded.state, rewarded, excluded.rewarded)";
    pub const GET_SALT = "SELECT salt FROM outbox";
    /// key of a reward, nonce → whether another click has the reward or waits for the cap
    pub const IS_REWARDED = "SELECT EXISTS (SELECT 1 FROM conversions WHERE rewarded = ?1 AND nonce <> ?2)
        OR EXISTS (SELECT 1 FROM reservations WHERE rewarded = ?1 AND nonce <> ?2)";
    /// user, first second of a UTC day → number of the user's rewards since then that were not reversed, plus the
    /// user's approvals that wait for the cap
    pub const COUNT_REWARDS = "SELECT (SELECT COUNT(*) FROM entries e JOIN conversions c ON c.entry = e.entry
            AND c.nonce = e.nonce AND c.goal = e.goal
          WHERE e.user_id = ?1 AND e.delivery IS NOT NULL AND c.state = 1 AND e.fields ->> '$.conversion_ts' >= ?2)
        + (SELECT COUNT(*) FROM reservations WHERE user_id = ?1)";
    /// advertiser, goal, txn, nonce, number, current time → one row, unless another click has the txn
    pub const CLAIM_TXN = "INSERT INTO txns (advertiser, goal, txn, nonce, number, at_ms) VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (advertiser, goal, txn) DO UPDATE SET number = MAX(number, excluded.number), at_ms = excluded.at_ms
          WHERE nonce = excluded.nonce RETURNING number";
    /// advertiser, goal, txn, nonce → whether no other click has the txn
    pub const TXN_IS_FREE = "SELECT NOT EXISTS (
        SELECT 1 FROM txns WHERE advertiser = ? AND goal = ? AND txn = ? AND nonce <> ?)";
    /// advertiser, goal, txn, nonce, number: ends this claim and earlier claims of the click
    pub const FREE_TXN = "DELETE FROM txns
        WHERE advertiser = ? AND goal = ? AND txn = ? AND nonce = ? AND number <= ?";
    pub const QUEUE_FREE = "INSERT INTO txns_to_free (number, due_ms, txn) VALUES (?, ?, ?)";
    /// current time, maximum claims → number, attempts, claim
    pub const DUE_FREES = "SELECT number, attempts, txn FROM txns_to_free WHERE due_ms <= ? ORDER BY number LIMIT ?";
    pub const PUT_FREE_OFF = "UPDATE txns_to_free SET due_ms = ?, attempts = ? WHERE number = ?";
    pub const FREED = "DELETE FROM txns_to_free WHERE number = ?";
    /// → a number that no other claim of this outbox has
    pub const NEXT_CLAIM = "UPDATE outbox SET claims = claims + 1 RETURNING claims";
    /// maximum reservations, offer, maximum reservations of the offer → number for a new reservation, if there is room
    pub const NEXT_RESERVATION = "SELECT random() & 9007199254740991 WHERE (SELECT COUNT(*) FROM reservations) < ?
        AND (SELECT COUNT(*) FROM reservations WHERE offer = ?) < ?";
    pub const RESERVE = "INSERT INTO reservations (nonce, goal, due_ms, attempts, number, offer, user_id, approval, rewarded)
        VALUES (?, ?, ?, 0, ?, ?, ?, ?, ?)";
    /// nonce, goal, number → whether the reservation's user must be erased; no row if the reservation has already ended
    pub const END_RESERVATION = "DELETE FROM reservations WHERE nonce = ? AND goal = ? AND number = ? RETURNING erase";
    /// current time, maximum reservations → attempts, reservation
    pub const DUE_RESERVATIONS = "SELECT attempts, approval FROM reservations WHERE due_ms <= ? ORDER BY due_ms LIMIT ?";
    /// due time, attempts, nonce, goal, number → one row, if the reservation has not ended
    pub const PUT_RESERVATION_OFF = "UPDATE reservations SET due_ms = ?, attempts = ?
        WHERE nonce = ? AND goal = ? AND number = ? RETURNING goal";
    pub const KEEP_POSTBACK = "INSERT INTO kept (nonce, goal, status, advertiser, user_id, lacks, at_ms, due_ms, postback)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (nonce, goal, status, advertiser) DO UPDATE SET lacks = excluded.lacks WHERE lacks <> excluded.lacks";
    /// current time, maximum postbacks → number, attempts, lost terms
    pub const DUE_KEPT = "SELECT number, attempts, lacks FROM kept WHERE due_ms <= ? ORDER BY due_ms LIMIT ?";
    pub const GET_KEPT = "SELECT postback FROM kept WHERE number = ?";
    pub const PUT_KEPT_OFF = "UPDATE kept SET due_ms = ?, attempts = attempts + 1 WHERE number = ?";
    /// number → one row, if the postback is still kept
    pub const DROP_KEPT = "DELETE FROM kept WHERE number = ? RETURNING number";
    pub const DROP_KEPT_OF_USER = "DELETE FROM kept WHERE user_id = ?";
    pub const MARK_RESERVATIONS = "UPDATE reservations SET erase = 1 WHERE user_id = ? RETURNING erase";
    pub const MARK_ENTRY = "UPDATE entries SET erase = 1 WHERE transaction_id = ? AND user_id IS NOT NULL RETURNING entry";
    pub const FIRST_WAITING = "SELECT MIN(due_ms) FROM (SELECT MIN(due_ms) AS due_ms FROM reservations
        UNION ALL SELECT MIN(due_ms) FROM txns_to_free UNION ALL SELECT MIN(due_ms) FROM kept
        UNION ALL SELECT gap_until_ms FROM outbox UNION ALL SELECT 0 FROM outbox WHERE erasing IS NOT NULL)";
    /// lowest number, step between numbers, transaction id, nonce, goal, entry of the reward or NULL, current time,
    /// payout, delivery or NULL, due time or NULL, whether the user must be erased, superseded, uncapped, state of the
    /// notice or NULL, reason, revision of the offer's terms at the click, revision of the app's terms at the click,
    /// placement, user, txn, fields → entry
    pub const ENTER = concat!("INSERT INTO entries
        (entry, movement, transaction_id, nonce, goal, after, at_ms, payout_micro_usd, delivery, due_ms, erase, superseded, uncapped,
          notice, reason, offer_terms, app_terms, placement, user_id, txn, fields)
        SELECT number, IIF(?9 IS NULL OR ?14 IS NOT NULL, NULL, number),
          ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21
        FROM (SELECT ", next_number!("?1", "?2"), " AS number)
        RETURNING entry");
    /// entry, user, txn, fields, reason, whether an earlier txn stays if there is no other: if the user was erased before,
    /// marks the entry so that the user is erased again
    pub const AMEND = concat!("UPDATE entries SET erase = ", is_erased!(), ", user_id = ?2, txn = IIF(?6, COALESCE(?3, txn), ?3), fields = ?4,
          reason = ?5
        WHERE entry = ?1");
    /// lowest number, step between numbers, entry or NULL, JSON of a claim or of an erased user, or NULL
    pub const CHANGE = concat!("INSERT INTO changes (number, entry, claim) VALUES (", next_number!("?1", "?2"), ", ?3, ?4)");
    /// lowest number, step between numbers, user: adds a change for each entry of the user that is not marked for
    /// erasure
    pub const CHANGE_USER = concat!("INSERT INTO changes (number, entry)
        SELECT first + step * (ROW_NUMBER() OVER (ORDER BY entry) - 1), entry
        FROM entries, (SELECT ", next_number!("?1", "?2"), " AS first, CAST(?2 AS INTEGER) AS step) WHERE user_id = ?3 AND erase = 0");
    /// entry → whether the user of the entry was erased
    pub const HAS_NO_USER = "SELECT user_id IS NULL FROM entries WHERE entry = ?";
    /// entry → whether the user of the entry was erased or must be erased
    pub const IS_ERASED = concat!("SELECT ", is_erased!(), " FROM entries WHERE entry = ?");
    pub const SET_REASON = "UPDATE entries SET reason = ? WHERE entry = ?";
    /// first entry (exclusive), last entry (inclusive), status, maximum conversions, reason or NULL, numbers of the
    /// refused and of the held state with this reason or NULL, user or NULL, offer or NULL, first second (inclusive),
    /// end second (exclusive) → entry, transaction id, payout in micro-USD
    pub const LIST_TO_SETTLE = concat!("SELECT e.entry, e.transaction_id,
          CAST(ROUND(COALESCE(e.fields ->> '$.payout', 0) * 1000000) AS INTEGER)
        FROM entries e JOIN conversions c ON c.entry = e.entry AND c.nonce = e.nonce AND c.goal = e.goal
        WHERE e.entry > ?1 AND e.entry <= ?2 AND ", entry_status!(), " = ?3 AND ", with_reason!(), "
          AND (?8 IS NULL OR e.user_id = ?8) AND (?9 IS NULL OR e.fields ->> '$.offer_id' = ?9)
          AND e.fields ->> '$.conversion_ts' >= ?10 AND e.fields ->> '$.conversion_ts' < ?11
        ORDER BY e.entry LIMIT ?4");
    /// transaction id → nonce, names of the goal, user, txn, revision of the offer's terms at the click, revision of
    /// the app's terms at the click, placement, fields, state, reason; no row for a reversal or a notice
    pub const GET_TO_SETTLE = "SELECT e.nonce, c.names, e.user_id, e.txn, e.offer_terms, e.app_terms, e.placement, e.fields, c.state,
          e.reason
        FROM entries e JOIN conversions c ON c.entry = e.entry AND c.nonce = e.nonce AND c.goal = e.goal
        WHERE e.transaction_id = ?";
    /// payout, due time, transaction id, superseded, uncapped, lowest number, step between numbers → entry
    pub const PAY = concat!("UPDATE entries SET payout_micro_usd = ?1, delivery = 0, due_ms = ?2, superseded = ?4, uncapped = ?5,
          movement = ", next_number!("?6", "?7"), " WHERE transaction_id = ?3 RETURNING entry");
    /// transaction id → entry, payout, delivery, fields, whether the user was erased or must be erased
    pub const GET_PAID = concat!("SELECT entry, payout_micro_usd, delivery, fields, ", is_erased!(), "
        FROM entries WHERE transaction_id = ?");

    /// current time, maximum callbacks → entry, attempts made, fields, revision of the callback settings, time when the
    /// endpoint was last enabled again, whether the callback is a notice of a conversion that is no longer pending, due
    /// time, whether the callback is a reversal whose reward's callback waits
    pub const DUE = concat!(callbacks!(), "WHERE delivery = 0 AND due_ms <= ? ORDER BY due_ms LIMIT ?");
    /// JSON list of entries → the same columns, for callbacks that had no attempt yet
    pub const CLAIMED_AHEAD = concat!(callbacks!(), "WHERE entry IN (SELECT value FROM json_each(?)) AND delivery = 0
        AND attempts_made = 0 AND due_ms IS NOT NULL");
    pub const SKIP = "UPDATE entries SET delivery = 3 WHERE entry = ? AND delivery = 0";
    /// end of the claim, JSON list of entries
    pub const CLAIM = "UPDATE entries SET due_ms = ? WHERE entry IN (SELECT value FROM json_each(?))";
    /// current time, maximum of the count → number of due callbacks
    pub const COUNT_DUE = "SELECT COUNT(*) FROM (SELECT 1 FROM entries WHERE delivery = 0 AND due_ms <= ? LIMIT ?)";
    pub const FIRST_DUE = "SELECT MIN(due_ms) FROM entries WHERE delivery = 0 AND due_ms IS NOT NULL";
    /// delivery, due time, attempts made, entry, attempts made when the callback was claimed → one row, unless the
    /// callback ended or was replayed after it was claimed
    pub const CONCLUDE = "UPDATE entries SET delivery = ?1, due_ms = ?2, attempts_made = ?3
        WHERE entry = ?4 AND delivery = 0 AND (attempts_made = ?5 OR ?1 = 1) RETURNING entry";
    /// the same parameters, time of the attempt, milliseconds, HTTP status, body, error, earliest entry that stores its
    /// first attempt itself → one row, if this was such a first attempt. The body may name the user, so the body is
    /// left out once the user is erased
    pub const CONCLUDE_FIRST = concat!("UPDATE entries SET delivery = ?1, due_ms = ?2, attempts_made = ?3, first_at_ms = ?6, first_ms = ?7,
          first_status = ?8, first_body = IIF(", is_erased!(), ", '', ?9), first_error = IIF(", is_erased!(), ", ", first_words!("?10"), ", ?10)
        WHERE entry = ?4 AND delivery = 0 AND attempts_made = ?5 AND ?5 = 0 AND first_at_ms IS NULL AND entry >= ?11
          AND NOT EXISTS (SELECT 1 FROM attempts WHERE entry = ?4) RETURNING entry");
    /// entry, time of the attempt, milliseconds, HTTP status, body, error. The body may name the user, so the body is
    /// left out once the user is erased
    pub const ADD_ATTEMPT = concat!("INSERT INTO attempts (entry, at_ms, ms, http_status, body, error)
        SELECT ?1, ?2, ?3, ?4, IIF(", is_erased!(), ", '', ?5), IIF(", is_erased!(), ", ", first_words!("?6"), ", ?6) FROM entries WHERE entry = ?1");
    /// JSON list of reversals' entries: makes these callbacks wait while the callbacks of their rewards wait
    pub const HOLD_REVERSALS = "UPDATE entries SET due_ms = NULL WHERE entry IN (SELECT value FROM json_each(?))
        AND EXISTS (SELECT 1 FROM entries r WHERE r.entry = entries.after AND r.delivery = 0)";
    /// current time, entry of a reward whose callback has ended: makes the reward's reversal due
    pub const RELEASE_REVERSAL = "UPDATE entries SET due_ms = ? WHERE after = ? AND delivery = 0 AND due_ms IS NULL";
    /// current time, latest end of a claim: restarts the schedules of waiting callbacks, except attempts in flight
    pub const RELEASE_ALL = "UPDATE entries SET due_ms = MIN(due_ms, ?1), attempts_made = 0
        WHERE delivery = 0 AND (due_ms IS NULL OR due_ms <= ?1 OR due_ms > ?2) AND (attempts_made > 0 OR due_ms > ?2)";

    /// entry (exclusive), number of earlier entries to skip → next earlier entry
    pub const ENTRY_BEFORE = "SELECT entry FROM entries WHERE entry < ? ORDER BY entry DESC LIMIT 1 OFFSET ?";
    /// entry (exclusive), number of later entries to skip → next later entry
    pub const ENTRY_AFTER = "SELECT entry FROM entries WHERE entry > ? ORDER BY entry LIMIT 1 OFFSET ?";
    /// end entry (exclusive), status or NULL, delivery or NULL, maximum entries, reason or NULL, numbers of the
    /// refused and of the held state with this reason or NULL, first entry (inclusive) → see `log`
    pub const LIST = concat!(entry_columns!(), "WHERE e.entry < ?1 AND e.entry >= ?8
        AND (?2 IS NULL OR ?2 = ", entry_status!(), ") AND (?3 IS NULL OR e.delivery = ?3) AND ", with_reason!(), "
        ORDER BY e.entry DESC LIMIT ?4");
    /// Like `LIST`, but over the whole log, for dead letters, which are few. The last parameter is omitted.
    pub const LIST_FEW = concat!(entry_columns!(), "WHERE e.delivery = 2 AND ?3 = 2 AND e.entry < ?1
        AND (?2 IS NULL OR ?2 = ", entry_status!(), ") AND ", with_reason!(), "
        ORDER BY e.entry DESC LIMIT ?4");
    /// Like `LIST`, but over all entries of a user, whose id is the last parameter.
    pub const LIST_OF_USER = concat!(entry_columns!(), "WHERE e.user_id = ?8 AND NOT e.erase AND e.entry < ?1
        AND (?2 IS NULL OR ?2 = ", entry_status!(), ") AND (?3 IS NULL OR e.delivery = ?3) AND ", with_reason!(), "
        ORDER BY e.entry DESC LIMIT ?4");
    /// transaction id → see `log`
    pub const GET_ENTRY = concat!(entry_columns!(), "WHERE e.transaction_id = ?");
    /// transaction id of a reward, its reversal or a notice → a row for the reward, then rows for its reversal and
    /// notices: columns of the story, number of attempts
    pub const GET_STORY = concat!("SELECT ", story_columns!(), ", (e.first_at_ms IS NOT NULL) + (SELECT COUNT(*) FROM attempts a WHERE a.entry = e.entry)
        FROM (SELECT COALESCE(after, entry) AS reward FROM entries WHERE transaction_id = ?) f
        JOIN entries e ON e.entry = f.reward OR e.after = f.reward
        JOIN conversions c ON c.nonce = e.nonce AND c.goal = e.goal ORDER BY e.after IS NOT NULL, e.entry");
    pub const LIST_OF_CLICK = "SELECT e.transaction_id, c.goal, c.state FROM conversions c JOIN entries e ON e.entry = c.entry
        WHERE c.nonce = ? ORDER BY e.entry";
    /// JSON list of entries → entry, time of the attempt, milliseconds, HTTP status, body, error
    pub const LIST_ATTEMPTS = concat!("SELECT entry, at_ms, ms, http_status, body, error FROM (", first_attempts!(), "
          UNION ALL SELECT attempt, entry, at_ms, ms, http_status, body, error FROM attempts
            WHERE entry IN (SELECT value FROM json_each(?1))) ORDER BY attempt");
    /// JSON list of entries, maximum attempts of each entry → the same columns, for the newest attempts
    pub const NEWEST_ATTEMPTS = concat!("SELECT entry, at_ms, ms, http_status, body, error FROM (", first_attempts!(), "
            AND (SELECT COUNT(*) FROM attempts a WHERE a.entry = entries.entry) < ?2
          UNION ALL SELECT a.attempt, a.entry, a.at_ms, a.ms, a.http_status, a.body, a.error
            FROM json_each(?1) JOIN attempts a ON a.attempt IN
              (SELECT attempt FROM attempts WHERE entry = json_each.value ORDER BY attempt DESC LIMIT ?2))
        ORDER BY attempt");
    /// → number of waiting callbacks, number of dead callbacks, number of reservations
    pub const COUNT_STANDING = "SELECT (SELECT COUNT(*) FROM entries WHERE delivery = 0),
        (SELECT COUNT(*) FROM entries WHERE delivery = 2), (SELECT COUNT(*) FROM reservations)";

    pub const GET_SWEEP = "SELECT day, entry FROM nights";
    pub const SET_SWEEP = "UPDATE nights SET day = ?, entry = ?";
    /// maximum attempts examined, cutoff time (exclusive)
    pub const SWEEP_ATTEMPTS = "DELETE FROM attempts WHERE attempt IN
        (SELECT attempt FROM (SELECT attempt, at_ms FROM attempts ORDER BY attempt LIMIT ?) WHERE at_ms < ?)";
    /// first entry (exclusive), end entry (exclusive), maximum entries → last of these entries, number of these
    /// entries
    pub const FIRSTS_TO_SWEEP = "SELECT MAX(entry), COUNT(*) FROM
        (SELECT entry FROM entries WHERE entry > ? AND entry < ? ORDER BY entry LIMIT ?)";
    /// first entry (exclusive), last entry (inclusive): deletes the entries' first attempts
    pub const SWEEP_FIRSTS = "UPDATE entries SET first_at_ms = NULL, first_ms = NULL, first_status = NULL, first_body = NULL,
          first_error = NULL WHERE entry > ? AND entry <= ? AND first_at_ms IS NOT NULL";
    /// → last entry whose first attempt was swept
    pub const GET_FIRSTS_SWEPT = "SELECT firsts FROM nights";
    pub const SET_FIRSTS_SWEPT = "UPDATE nights SET firsts = ?";
    /// cutoff time (exclusive), maximum txns
    pub const SWEEP_TXNS = "DELETE FROM txns WHERE (advertiser, goal, txn) IN
        (SELECT advertiser, goal, txn FROM txns WHERE at_ms < ? LIMIT ?)";
    /// cutoff time, maximum terms: deletes terms that were superseded in this outbox before the cutoff time, because no
    /// click that can still convert has them
    pub const SWEEP_TERMS = "DELETE FROM terms WHERE (kind, id, revision) IN
        (SELECT t.kind, t.id, t.revision FROM terms n
          JOIN terms t ON t.kind = n.kind AND t.id = n.id AND t.revision < n.revision
          WHERE n.learned_ms < ? LIMIT ?)";
    /// maximum postbacks examined, cutoff time (exclusive): deletes postbacks whose lost terms were never entered again
    pub const SWEEP_KEPT = "DELETE FROM kept WHERE number IN
        (SELECT number FROM (SELECT number, at_ms FROM kept ORDER BY number LIMIT ?) WHERE at_ms < ?)";
    /// cutoff time of attempts, cutoff time of txns and postbacks → whether expired rows are left
    pub const MORE_TO_SWEEP = "SELECT
        EXISTS (SELECT 1 FROM (SELECT at_ms FROM attempts ORDER BY attempt LIMIT 1) WHERE at_ms < ?1)
        OR EXISTS (SELECT 1 FROM txns WHERE at_ms < ?2)
        OR EXISTS (SELECT 1 FROM (SELECT at_ms FROM kept ORDER BY number LIMIT 1) WHERE at_ms < ?2)";
    /// first entry (exclusive), end entry (exclusive), maximum entries → last of these entries
    pub const LAST_TO_SWEEP = "SELECT MAX(entry) FROM
        (SELECT entry FROM entries WHERE entry > ? AND entry < ? ORDER BY entry LIMIT ?)";
    /// first entry (exclusive), last entry (inclusive): sets the reason of pending and held entries to `expired`,
    /// before their conversions are rejected
    pub const GIVE_EXPIRED = concat!("UPDATE entries SET reason = 'expired' WHERE entry IN
        (SELECT entry FROM conversions WHERE ", to_expire!(), ")");
    /// first entry (exclusive), last entry (inclusive), lowest number, step between numbers: adds a change for each entry
    /// whose conversion is about to be rejected
    pub const CHANGE_EXPIRED = concat!("INSERT INTO changes (number, entry)
        SELECT first + step * (ROW_NUMBER() OVER (ORDER BY entry) - 1), entry
        FROM conversions, (SELECT ", next_number!("?3", "?4"), " AS first, CAST(?4 AS INTEGER) AS step) WHERE ", to_expire!());
    /// first entry (exclusive), last entry (inclusive): rejects pending and held conversions
    pub const EXPIRE = concat!("UPDATE conversions SET state = 2 WHERE ", to_expire!());
    /// first entry (exclusive), end entry (exclusive), number before which everything may be deleted, last number that
    /// all receivers have: deletes conversions
    pub const SWEEP_CONVERSIONS = concat!("DELETE FROM conversions WHERE (nonce, goal) IN
        (SELECT nonce, goal FROM entries e ", to_sweep!(), ")");
    /// the same parameters
    pub const SWEEP_THEIR_ATTEMPTS = concat!("DELETE FROM attempts WHERE entry IN (
        WITH swept AS (SELECT entry FROM entries e ", to_sweep!(), " UNION ALL SELECT after FROM entries e ", to_sweep!(), ")
        SELECT entry FROM swept
        UNION ALL SELECT n.entry FROM swept s JOIN entries n ON n.after = s.entry AND n.notice IS NOT NULL)");
    /// the same parameters: deletes the notices of swept conversions
    pub const SWEEP_NOTICES = concat!("DELETE FROM entries WHERE notice IS NOT NULL AND after IN
        (SELECT entry FROM entries e ", to_sweep!(), " UNION ALL SELECT after FROM entries e ", to_sweep!(), ")");
    /// the same parameters: deletes the rewards whose reversals are swept
    pub const SWEEP_REVERSED = concat!("DELETE FROM entries WHERE entry IN
        (SELECT after FROM entries e ", to_sweep!(), " AND after IS NOT NULL)");
    /// the same parameters
    pub const SWEEP_ENTRIES = concat!("DELETE FROM entries WHERE entry IN (SELECT entry FROM entries e ", to_sweep!(), ")");
    /// first number of a UTC day, offer, first second of the day (inclusive), end second (exclusive) → number of the
    /// offer's rewards that were paid without a cap on that day
    pub const COUNT_UNCAPPED = concat!("SELECT (SELECT COUNT(*) FROM entries e WHERE e.entry >= ?1 AND ", uncapped!(), ")
        + (SELECT COUNT(*) FROM entries e WHERE e.movement <> e.entry AND e.movement >= ?1 AND e.entry < ?1 AND ", uncapped!(), ")");
    /// cutoff UTC day, exclusive
    pub const SWEEP_REWARD_COUNTS = "DELETE FROM reward_counts WHERE day < ?";
    pub const ANYTHING_KEPT = "SELECT EXISTS (SELECT 1 FROM entries) OR EXISTS (SELECT 1 FROM txns) OR EXISTS (SELECT 1 FROM kept) OR EXISTS (SELECT 1 FROM journal)
        OR EXISTS (SELECT 1 FROM erased)";
}
