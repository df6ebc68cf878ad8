//! One account with its clock and its randomness, and people whose passkeys are simulated by their counters.

use std::{
    cell::{Cell, RefCell},
    time::Duration,
};

use super::*;
use crate::{migrated, registers::Registers, sqlite::Sqlite, storage::Storage};
use contract::operation::{Bytes, CallError, ObjectAddress, Operation};
use domain::{
    accounts::{self as rules, account::Account, session::SessionUse},
    model::{PublisherId, mac::MacKeys},
};
use origin::objects::accounts::{MIGRATIONS, service::AccountsService};
use platform::{
    failure::Failure,
    traits::{Clock, ObjectCall, Random},
};

pub const NOW: i64 = 1_768_478_400_000;

pub struct World {
    pub db: Sqlite,
    pub now_ms: Cell<i64>,
    pub account: Account,
    /// Random bytes drawn, and challenges issued so far.
    drawn: Cell<u64>,
    pub registers: Registers,
    /// Every text that was drawn as an invite or a session.
    pub secrets: RefCell<Vec<String>>,
}

/// A member with its passkey, and the session that began with it.
#[derive(Clone, Debug)]
pub struct Person {
    pub id: MemberId,
    pub credential: Bytes,
    pub session: String,
}

impl Person {
    /// The answer of its passkey to a challenge.
    pub fn passkey_use(&self, sign_count: u32, challenge: SpentChallenge) -> PasskeyUse {
        PasskeyUse { credential_id: self.credential.clone(), sign_count, is_backed_up: false, challenge }
    }
}

const KEYS: &str = "abababababababababababababababababababababababababababababababab";

pub fn keys() -> MacKeys {
    MacKeys::parse(rules::SETTING, KEYS).unwrap()
}

pub struct Runtime<'a>(&'a World);

impl Clock for Runtime<'_> {
    fn now_ms(&self) -> i64 {
        self.0.now_ms.get()
    }
}

impl Random for Runtime<'_> {
    fn random(&self) -> Result<[u8; 32], String> {
        self.0.random()
    }
}

impl ObjectCall for Runtime<'_> {
    async fn call<O: Operation>(
        &self,
        to: &ObjectAddress,
        operation: O,
        _timeout: Duration,
    ) -> Result<O::Answer, CallError> {
        if to.binding == contract::ledger::BINDING {
            return Ok(serde_json::from_str("{}").unwrap());
        }
        self.0.registers.answer(self.now_ms(), to, operation)
    }
}

/// A refusal's status and code.
pub fn refusal<T: std::fmt::Debug>(outcome: Result<T, Failure>) -> (u16, &'static str) {
    match outcome.unwrap_err() {
        Failure::Refused(error) => (error.status, error.code),
        internal => panic!("{internal:?}"),
    }
}

impl World {
    pub fn new() -> Self {
        Self::of(Account::Publisher(PublisherId::parse("lumen-arcade").unwrap()))
    }

    pub fn of(account: Account) -> Self {
        Self {
            db: migrated(MIGRATIONS),
            now_ms: Cell::new(NOW),
            account,
            drawn: Cell::new(0),
            registers: Registers::default(),
            secrets: RefCell::default(),
        }
    }

    pub fn pass(&self, ms: i64) {
        self.now_ms.set(self.now_ms.get() + ms);
    }

    fn draw(&self) -> u64 {
        self.drawn.set(self.drawn.get() + 1);
        self.drawn.get()
    }

    fn random(&self) -> Result<[u8; 32], String> {
        // Every 8 bytes differ from the others and from those of any other draw.
        let number = self.draw();
        let parts = [1_u64, 2, 3, 4].map(|part| (part << 56 | number).to_be_bytes());
        Ok(std::array::from_fn(|at| parts[at / 8][at % 8]))
    }

    /// Sends a command and reads its answer as a caller does.
    pub fn send<O: Operation<Command = Command>>(&self, operation: O) -> Result<O::Answer, Failure> {
        let reply = self.command(operation.into())?;
        Ok(serde_json::from_value(serde_json::to_value(reply).unwrap()).unwrap())
    }

    pub fn command(&self, command: Command) -> Result<Reply, Failure> {
        // Each command starts a process.
        crate::now(self.service(true).command(command))
    }

    /// A process of the object. If its alarm starts it, it may not know its name.
    pub fn service(&self, knows_its_name: bool) -> AccountsService<Storage<'_>, Runtime<'_>> {
        let name = knows_its_name.then(|| object_name(self.account.id()));
        AccountsService::new(name, Storage::new(&self.db), Runtime(self), KEYS.into())
    }

    /// Puts the object back to a copy.
    pub fn put_back(&mut self, copy: Sqlite) {
        self.db = copy;
        self.pass(SECOND_MS);
    }

    pub fn owner(&self) -> Owner {
        Owner::of(&self.account)
    }

    pub fn invite(&self, by: Actor, name: &str, role: Role) -> Result<NewInvite, Failure> {
        let invited = self.send(Invite { owner: self.owner(), by, to: Invitee::New { name: name.into(), role } })?;
        self.secrets.borrow_mut().push(invited.invite.clone());
        Ok(invited)
    }

    pub fn recover(&self, by: Actor, member: MemberId) -> Result<NewInvite, Failure> {
        let invited = self.send(Invite { owner: self.owner(), by, to: Invitee::Recovery(member) })?;
        self.secrets.borrow_mut().push(invited.invite.clone());
        Ok(invited)
    }

    pub fn read_invite(&self, invite: &str) -> Result<InviteDetails, Failure> {
        self.send(ReadInvite { invite: invite.into() })
    }

    /// A challenge that nobody has spent.
    pub fn challenge(&self) -> SpentChallenge {
        SpentChallenge {
            id: Bytes(self.draw().to_be_bytes().repeat(4)),
            expires_at_ms: self.now_ms.get() + 5 * MINUTE_MS,
        }
    }

    pub fn new_passkey(&self) -> NewPasskey {
        NewPasskey {
            credential_id: Bytes([&[0xC0; 8][..], &self.draw().to_be_bytes()].concat()),
            algorithm: -7,
            spki: Bytes(vec![0x30; 91]),
            sign_count: 1,
            transports: vec!["internal".into(), "hybrid".into()],
            is_backup_eligible: true,
            is_backed_up: false,
            challenge: self.challenge(),
        }
    }

    pub fn accept_with(&self, invite: &str, passkey: Option<NewPasskey>) -> Result<SignedIn, Failure> {
        let signed_in = self.send(Accept { invite: invite.into(), passkey, user_agent: "Firefox".into() })?;
        self.secrets.borrow_mut().push(signed_in.session.clone());
        Ok(signed_in)
    }

    pub fn accept(&self, invite: &str) -> Result<Person, Failure> {
        let passkey = self.new_passkey();
        let credential = passkey.credential_id.clone();
        let signed_in = self.accept_with(invite, Some(passkey))?;
        Ok(Person { id: signed_in.member, credential, session: signed_in.session })
    }

    /// A member who joined just now.
    pub fn join(&self, name: &str, role: Role) -> Person {
        let invited = self.invite(Actor::Operator, name, role).unwrap();
        self.accept(&invited.invite).unwrap()
    }

    pub fn sign_in(&self, person: &Person, sign_count: u32) -> Result<String, Failure> {
        let signed_in = self.send(SignIn {
            passkey: PasskeyUse { is_backed_up: true, ..person.passkey_use(sign_count, self.challenge()) },
            user_agent: "Firefox".into(),
        })?;
        self.secrets.borrow_mut().push(signed_in.session.clone());
        Ok(signed_in.session)
    }

    pub fn verify(&self, session: &str, person: &Person, sign_count: u32) -> Result<(), Failure> {
        self.send(Verify { session: session.into(), passkey: person.passkey_use(sign_count, self.challenge()) })
            .map(drop)
    }

    pub fn session_in_use(&self, session: &str, session_use: SessionUse) -> Result<Session, Failure> {
        self.send(ReadSession { session: session.into(), session_use })
    }

    /// The session as a poll reads it, which changes nothing.
    pub fn session(&self, session: &str) -> Result<Session, Failure> {
        self.session_in_use(session, SessionUse::Poll)
    }

    pub fn is_live(&self, session: &str) -> bool {
        match self.session(session) {
            Ok(_) => true,
            refused => {
                let refusal = refusal(refused);
                assert!([(401, "not_signed_in"), (403, "account_suspended")].contains(&refusal));
                false
            }
        }
    }

    pub fn change(&self, by: Actor, member: MemberId, role: Option<Role>) -> Result<(), Failure> {
        self.send(ChangeMember { by, member, role }).map(drop)
    }

    pub fn members(&self) -> Members {
        self.send(ReadMembers {}).unwrap()
    }

    /// The members' names and roles.
    pub fn roles(&self) -> Vec<(String, Role)> {
        let members = self.members().members.into_iter();
        members.map(|member| (member.name, member.role)).collect()
    }

    pub fn suspend(&self, is_suspended: bool) {
        let revision = self.draw().cast_signed();
        self.send(Suspend { is_suspended, revision, publisher: PublisherId::parse("lumen-arcade").unwrap() }).unwrap();
    }

    /// The audit from the oldest row on: who, what, on whom, detail.
    pub fn audit(&self) -> Vec<[String; 4]> {
        let read = ReadAudit { limit: 200, before: None };
        let entries = self.send(read).unwrap().entries.into_iter().rev();
        entries
            .map(|entry| {
                let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".into());
                [entry.by, entry.action, or_none(entry.subject), or_none(entry.detail)]
            })
            .collect()
    }

    /// All rows of the object.
    pub fn dump(&self) -> Vec<(&'static str, Vec<platform::database::Row>)> {
        ["account", "members", "invites", "sessions", "passkeys", "challenges", "audit", "rates", "register"]
            .map(|table| (table, crate::dump(&self.db, table)))
            .into()
    }
}
