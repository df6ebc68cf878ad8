//! The schema and statements of accounts. Each table with rows that expire has an index on the expiry; the audit is
//! swept by its numbers, which ascend with time.

use crate::delivery::register;
use platform::migrations::Migration;

pub const MIGRATIONS: &[Migration] = &[&[TABLES, register::TABLES]];

const TABLES: &[&str] = &[
    // One row. The owner is NULL until the first invite names it. `suspension_revision` is the catalog's revision that
    // last suspended or admitted the account. `restored_ms` is when the object noticed that it was restored from a
    // copy; 0 for never.
    "CREATE TABLE account (
       only INTEGER PRIMARY KEY CHECK (only = 1), letter TEXT, owner TEXT, is_suspended INTEGER NOT NULL DEFAULT 0,
       suspension_revision INTEGER NOT NULL DEFAULT 0, restored_ms INTEGER NOT NULL DEFAULT 0
     ) STRICT",
    // A member's invites from before `invites_from_ms` have ended.
    "CREATE TABLE members (
       member TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL, created_ms INTEGER NOT NULL,
       last_seen_ms INTEGER NOT NULL, invites_from_ms INTEGER NOT NULL DEFAULT 0
     ) STRICT, WITHOUT ROWID",
    // Invites that are not spent. `name` and `role` are NULL for a recovery, because the member's row has them.
    // `issuer_member` is NULL if the operator issued the invite. `issuer_console` is the console's member who did.
    "CREATE TABLE invites (
       hash BLOB NOT NULL PRIMARY KEY, invite_id TEXT NOT NULL, member TEXT NOT NULL, name TEXT, role TEXT,
       expires_ms INTEGER NOT NULL, issuer TEXT NOT NULL, issuer_member TEXT,
       issuer_console TEXT
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX invites_by_expiry ON invites (expires_ms)",
    "CREATE TABLE sessions (
       hash BLOB NOT NULL PRIMARY KEY, session_id TEXT NOT NULL, member TEXT NOT NULL, created_ms INTEGER NOT NULL,
       last_seen_ms INTEGER NOT NULL, verified_ms INTEGER, ends_ms INTEGER NOT NULL, is_local INTEGER NOT NULL,
       user_agent TEXT NOT NULL
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX sessions_by_member ON sessions (member)",
    "CREATE INDEX sessions_by_end ON sessions (ends_ms)",
    // An RSA key has 550 bytes. WITHOUT ROWID suits smaller rows, so this table has rowids.
    "CREATE TABLE passkeys (
       credential_id BLOB NOT NULL PRIMARY KEY, member TEXT NOT NULL, algorithm INTEGER NOT NULL, spki BLOB NOT NULL,
       sign_count INTEGER NOT NULL, transports TEXT NOT NULL, is_backup_eligible INTEGER NOT NULL,
       is_backed_up INTEGER NOT NULL, created_ms INTEGER NOT NULL, user_agent TEXT NOT NULL, last_used_ms INTEGER
     ) STRICT",
    "CREATE INDEX passkeys_by_member ON passkeys (member)",
    // Spent challenges, until they expire.
    "CREATE TABLE challenges (id BLOB NOT NULL PRIMARY KEY, expires_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE INDEX challenges_by_expiry ON challenges (expires_ms)",
    // `actor_member` and `subject_member` are NULL for the operator and for things. A row that announces another
    // object's change is unconfirmed until the outcome of the change is known.
    "CREATE TABLE audit (
       number INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL, subject TEXT,
       detail TEXT, actor_member TEXT, subject_member TEXT, is_unconfirmed INTEGER NOT NULL DEFAULT 0
     ) STRICT",
    "CREATE INDEX recoveries ON audit (at_ms) WHERE action = 'recovery_issued'",
    // Counts of events in their windows. `subject` is a member's id, a passkey's credential id, or empty for the whole
    // account.
    "CREATE TABLE rates (
       kind TEXT NOT NULL, subject BLOB NOT NULL, started_ms INTEGER NOT NULL, count INTEGER NOT NULL,
       PRIMARY KEY (kind, subject)
     ) STRICT, WITHOUT ROWID",
];

platform::statements! {
    // The account.
    /// → letter and id of the owner, whether suspended, revision of the last suspension or admission, time of the last
    /// restore
    pub const GET_ACCOUNT = "SELECT letter, owner, is_suspended, suspension_revision, restored_ms FROM account";
    pub const SET_OWNER = "INSERT INTO account (only, letter, owner) VALUES (1, ?, ?)
        ON CONFLICT (only) DO UPDATE SET letter = excluded.letter, owner = excluded.owner";
    pub const SET_SUSPENDED = "INSERT INTO account (only, is_suspended, suspension_revision) VALUES (1, ?, ?)
        ON CONFLICT (only) DO UPDATE SET is_suspended = excluded.is_suspended,
          suspension_revision = excluded.suspension_revision";
    pub const SET_RESTORED = "INSERT INTO account (only, restored_ms) VALUES (1, ?)
        ON CONFLICT (only) DO UPDATE SET restored_ms = excluded.restored_ms";

    // Members.
    pub const GET_MEMBER = "SELECT name, role FROM members WHERE member = ?";
    pub const GET_ROLES = "SELECT member, role FROM members";
    pub const LIST_MEMBERS = "SELECT member, name, role, created_ms, last_seen_ms,
          (SELECT COUNT(*) FROM passkeys WHERE passkeys.member = members.member), invites_from_ms
        FROM members ORDER BY created_ms, member";
    pub const COUNT_MEMBERS = "SELECT COUNT(*) FROM members";
    pub const INSERT_MEMBER = "INSERT INTO members (member, name, role, created_ms, last_seen_ms)
        VALUES (?1, ?2, ?3, ?4, ?4)";
    /// member, time: earlier invites of the member have ended
    pub const SET_INVITES_FROM = "UPDATE members SET invites_from_ms = ?2 WHERE member = ?1";
    pub const SET_ROLE = "UPDATE members SET role = ?2 WHERE member = ?1";
    pub const SEE_MEMBER = "UPDATE members SET last_seen_ms = ?2 WHERE member = ?1";
    pub const DELETE_MEMBER = "DELETE FROM members WHERE member = ?";

    // Invites.
    /// current time → number of open invites for new members
    pub const COUNT_INVITES = "SELECT COUNT(*) FROM invites WHERE expires_ms > ? AND role IS NOT NULL";
    pub const INSERT_INVITE = "INSERT INTO invites (hash, invite_id, member, name, role, expires_ms, issuer,
          issuer_member, issuer_console)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
    /// hash → the console's member who issued the invite, expiry; no row if no such member did
    pub const GET_CONSOLE_ISSUER = "SELECT issuer_console, expires_ms FROM invites WHERE hash = ? AND issuer_console IS NOT NULL";
    /// hash, current time → member, name, role, whether a recovery, expiry
    pub const GET_INVITE = "SELECT invites.member, COALESCE(invites.name, members.name),
          COALESCE(invites.role, members.role), invites.role IS NULL, expires_ms
        FROM invites LEFT JOIN members ON members.member = invites.member WHERE hash = ? AND expires_ms > ?";
    pub const FIND_INVITE = "SELECT hash, COALESCE(invites.name, members.name), COALESCE(invites.role, members.role),
          invites.member
        FROM invites LEFT JOIN members ON members.member = invites.member WHERE invite_id = ? AND expires_ms > ?";
    /// current time → id, name, role, whether a recovery, expiry, issuer
    pub const LIST_INVITES = "SELECT invite_id, COALESCE(invites.name, members.name),
          COALESCE(invites.role, members.role), invites.role IS NULL, expires_ms, issuer
        FROM invites LEFT JOIN members ON members.member = invites.member WHERE expires_ms > ?
        ORDER BY expires_ms, invite_id";
    pub const DELETE_INVITE = "DELETE FROM invites WHERE hash = ?";
    pub const DELETE_INVITES = "DELETE FROM invites";
    pub const DELETE_INVITES_BY = "DELETE FROM invites WHERE issuer_member = ?";
    pub const DELETE_RECOVERY = "DELETE FROM invites WHERE member = ? AND role IS NULL";

    // Sessions.
    pub const INSERT_SESSION = "INSERT INTO sessions (hash, session_id, member, created_ms, last_seen_ms, verified_ms,
          ends_ms, is_local, user_agent)
        VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6, ?7, ?8)";
    /// member, current time, number of sessions to keep: keeps live sessions before expired ones, newest first
    pub const TRIM_SESSIONS = "DELETE FROM sessions WHERE hash IN (SELECT hash FROM sessions WHERE member = ?
        ORDER BY ends_ms > ? DESC, created_ms DESC, hash LIMIT -1 OFFSET ?)";
    pub const GET_SESSION = "SELECT session_id, sessions.member, name, role, sessions.created_ms,
          sessions.last_seen_ms, verified_ms, is_local
        FROM sessions JOIN members ON members.member = sessions.member WHERE hash = ? AND ends_ms > ?";
    pub const FIND_SESSION = "SELECT hash, name FROM sessions JOIN members ON members.member = sessions.member
        WHERE sessions.member = ? AND session_id = ? AND ends_ms > ?";
    pub const LIST_SESSIONS = "SELECT session_id, created_ms, last_seen_ms, verified_ms, user_agent FROM sessions
        WHERE member = ? AND ends_ms > ? ORDER BY created_ms DESC, hash";
    pub const SET_TIMES = "UPDATE sessions SET last_seen_ms = ?2, verified_ms = ?3, ends_ms = ?4 WHERE hash = ?1";
    pub const DELETE_SESSION = "DELETE FROM sessions WHERE hash = ?";
    pub const DELETE_SESSIONS_OF = "DELETE FROM sessions WHERE member = ?";
    /// member, hash of the session that stays
    pub const DELETE_OTHER_SESSIONS = "DELETE FROM sessions WHERE member = ? AND hash <> ?";
    pub const DELETE_SESSIONS = "DELETE FROM sessions";

    // Passkeys.
    pub const GET_PASSKEY = "SELECT passkeys.member, name, algorithm, spki, sign_count, is_backup_eligible
        FROM passkeys JOIN members ON members.member = passkeys.member WHERE credential_id = ?";
    /// credential, member → whether the credential is stored, number of the member's passkeys
    pub const COUNT_PASSKEYS = "SELECT EXISTS (SELECT 1 FROM passkeys WHERE credential_id = ?),
        (SELECT COUNT(*) FROM passkeys WHERE member = ?)";
    /// member → credential, JSON list of transports, user agent, time of creation, time of the last use
    pub const LIST_PASSKEYS = "SELECT credential_id, transports, user_agent, created_ms, last_used_ms FROM passkeys
        WHERE member = ? ORDER BY created_ms, credential_id";
    /// credential, member, algorithm, key, sign counter, JSON list of transports, whether eligible for backup, whether
    /// backed up, current time, user agent
    pub const INSERT_PASSKEY = "INSERT INTO passkeys (credential_id, member, algorithm, spki, sign_count, transports,
          is_backup_eligible, is_backed_up, created_ms, user_agent)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    pub const USE_PASSKEY = "UPDATE passkeys SET sign_count = ?2, is_backed_up = ?3, last_used_ms = ?4
        WHERE credential_id = ?1";
    pub const DELETE_PASSKEY = "DELETE FROM passkeys WHERE credential_id = ?";
    pub const DELETE_PASSKEYS_OF = "DELETE FROM passkeys WHERE member = ?";

    // Challenges.
    pub const IS_SPENT = "SELECT EXISTS (SELECT 1 FROM challenges WHERE id = ?)";
    pub const SPEND = "INSERT INTO challenges (id, expires_ms) VALUES (?, ?)";

    // Audit.
    pub const APPEND = "INSERT INTO audit (at_ms, actor, action, subject, detail, actor_member, subject_member)
        VALUES (?, ?, ?, ?, ?, ?, ?)";
    /// exclusive upper number, maximum rows → number, time, actor, action, subject, detail, actor's id, subject's id,
    /// whether unconfirmed
    pub const PAGE = "SELECT number, at_ms, actor, action, subject, detail, actor_member, subject_member, is_unconfirmed
        FROM audit WHERE number < ? ORDER BY number DESC LIMIT ?";
    pub const MARK_UNCONFIRMED = "UPDATE audit SET is_unconfirmed = 1 WHERE number = (SELECT MAX(number) FROM audit)
        RETURNING number";
    /// number, subject or NULL, detail or NULL; NULL keeps the stored text
    pub const CONFIRM = "UPDATE audit SET is_unconfirmed = 0, subject = COALESCE(?2, subject), detail = COALESCE(?3, detail)
        WHERE number = ?1 AND is_unconfirmed";
    /// number → action, detail, time and member of the announced change
    pub const DELETE_UNCONFIRMED = "DELETE FROM audit WHERE number = ? AND is_unconfirmed RETURNING action, detail, at_ms, actor_member";
    /// exclusive earliest time, maximum rows → member's name, issuer's name, time; newest first
    pub const RECOVERIES = "SELECT subject, actor, at_ms FROM audit WHERE action = 'recovery_issued' AND at_ms > ?
        ORDER BY at_ms DESC LIMIT ?";

    // Rates.
    pub const GET_RATE = "SELECT started_ms, count FROM rates WHERE kind = ? AND subject = ?";
    pub const SET_RATE = "INSERT INTO rates (kind, subject, started_ms, count) VALUES (?, ?, ?, ?)
        ON CONFLICT (kind, subject) DO UPDATE SET started_ms = excluded.started_ms, count = excluded.count";

    // The sweep.
    pub const SWEEP_RATES = "DELETE FROM rates WHERE started_ms <= ?";
    /// inclusive cutoff time, maximum rows: deletes the expired rows
    pub const SWEEP_SESSIONS = "DELETE FROM sessions
        WHERE hash IN (SELECT hash FROM sessions WHERE ends_ms <= ? LIMIT ?)";
    /// inclusive cutoff time, maximum rows: deletes the expired rows
    pub const SWEEP_CHALLENGES = "DELETE FROM challenges
        WHERE id IN (SELECT id FROM challenges WHERE expires_ms <= ? LIMIT ?)";
    /// inclusive cutoff time, maximum rows: deletes the expired rows
    pub const SWEEP_INVITES = "DELETE FROM invites
        WHERE hash IN (SELECT hash FROM invites WHERE expires_ms <= ? LIMIT ?)";
    /// inclusive cutoff time, maximum rows: deletes the expired rows
    pub const SWEEP_AUDIT = "DELETE FROM audit
        WHERE at_ms <= ? AND number IN (SELECT number FROM audit ORDER BY number LIMIT ?)";
    pub const FIRST_DUE = "SELECT (SELECT MIN(ends_ms) FROM sessions), (SELECT MIN(expires_ms) FROM challenges),
        (SELECT MIN(expires_ms) FROM invites), (SELECT at_ms FROM audit ORDER BY number LIMIT 1)";
}
