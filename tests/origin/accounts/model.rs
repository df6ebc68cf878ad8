//! `origin::objects::accounts` against a naive model: any order of invites, acceptances, sign-ins, changes,
//! suspensions, polls and sweeps. After each step both agree on the answer, the members and each session ever opened.

use proptest::prelude::*;

use super::*;
use domain::accounts::session::SessionUse;
use platform::failure::Failure;

const ROLES: [Role; 4] = [Role::Owner, Role::Developer, Role::Analyst, Role::UserSupport];

/// Numbers are indexes into the members, invites and so on that exist when the step runs.
#[derive(Clone, Debug)]
enum Op {
    Invite { by: usize, role: usize },
    Recover { by: usize, member: usize },
    Accept { invite: usize, is_local: bool },
    Withdraw { by: usize, invite: usize },
    SignIn { person: usize, ahead: u32 },
    Verify { session: usize, person: usize, ahead: u32 },
    Use { session: usize, session_use: SessionUse },
    SignOut { session: usize },
    End { by: usize, session: usize },
    Change { by: usize, member: usize, role: Option<usize> },
    Suspend(bool),
    Pass(i64),
    Sweep,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let n = 0..6_usize;
    let op = prop_oneof![
        4 => (n.clone(), 0..ROLES.len()).prop_map(|(by, role)| Op::Invite { by, role }),
        1 => (n.clone(), n.clone()).prop_map(|(by, member)| Op::Recover { by, member }),
        5 => (n.clone(), any::<bool>()).prop_map(|(invite, is_local)| Op::Accept { invite, is_local }),
        1 => (n.clone(), n.clone()).prop_map(|(by, invite)| Op::Withdraw { by, invite }),
        4 => (n.clone(), 0..3_u32).prop_map(|(person, ahead)| Op::SignIn { person, ahead }),
        2 => (n.clone(), n.clone(), 0..2_u32)
            .prop_map(|(session, person, ahead)| Op::Verify { session, person, ahead }),
        3 => (n.clone(), prop_oneof![Just(SessionUse::Action), Just(SessionUse::Poll)])
            .prop_map(|(session, session_use)| Op::Use { session, session_use }),
        1 => n.clone().prop_map(|session| Op::SignOut { session }),
        1 => (n.clone(), n.clone()).prop_map(|(by, session)| Op::End { by, session }),
        2 => (n.clone(), n.clone(), proptest::option::of(0..ROLES.len()))
            .prop_map(|(by, member, role)| Op::Change { by, member, role }),
        1 => proptest::bool::weighted(0.4).prop_map(Op::Suspend),
        3 => prop_oneof![
            Just(1), Just(5 * MINUTE_MS), Just(10 * MINUTE_MS), Just(6 * HOUR_MS), Just(12 * HOUR_MS), Just(7 * DAY_MS)
        ].prop_map(Op::Pass),
        1 => Just(Op::Sweep),
    ];
    proptest::collection::vec(op, 1..80)
}

struct ModelMember {
    id: MemberId,
    role: Role,
    is_here: bool,
    /// The passkey, and the counter that was used last.
    passkey: Option<(Person, u32)>,
}

struct ModelInvite {
    invited: NewInvite,
    /// None for a recovery.
    role: Option<Role>,
    /// The number of the member that it recovers.
    recovers: Option<usize>,
    by: Actor,
    is_open: bool,
}

struct ModelSession {
    text: String,
    /// The number of its member.
    member: usize,
    created_ms: i64,
    seen_ms: i64,
    verified_ms: Option<i64>,
    is_ended: bool,
}

/// The events of a window.
#[derive(Default)]
struct ModelRate {
    started_ms: i64,
    count: usize,
}

impl ModelRate {
    fn take(&mut self, now_ms: i64, most: usize, length_ms: i64) -> Expected {
        if now_ms >= self.started_ms + length_ms {
            (self.started_ms, self.count) = (now_ms, 0);
        }
        if self.count == most {
            return Err((429, "rate_limit_exceeded"));
        }
        self.count += 1;
        Ok(())
    }
}

#[derive(Default)]
struct Model {
    unknown: ModelRate,
    invited: ModelRate,
    settings: ModelRate,
    members: Vec<ModelMember>,
    invites: Vec<ModelInvite>,
    sessions: Vec<ModelSession>,
    is_suspended: bool,
    changes: usize,
}

type Expected = Result<(), (u16, &'static str)>;

const NOT_SIGNED_IN: Expected = Err((401, "not_signed_in"));
const SUSPENDED: Expected = Err((403, "account_suspended"));
const PASSKEY_REFUSED: Expected = Err((401, "passkey_refused"));
const UNKNOWN_INVITE: Expected = Err((404, "unknown_invite"));
const NOT_FOUND: Expected = Err((404, "not_found"));

/// The answer without its content.
fn outcome<T: std::fmt::Debug>(answer: Result<T, Failure>) -> Expected {
    match answer {
        Ok(_) => Ok(()),
        refused => Err(refusal(refused)),
    }
}

impl Model {
    fn is_live(&self, session: usize, now_ms: i64) -> bool {
        let session = &self.sessions[session];
        !session.is_ended && now_ms < session.seen_ms + 12 * HOUR_MS && now_ms < session.created_ms + 7 * DAY_MS
    }

    /// The expected answer to a call with this session.
    fn signed_in(&self, session: usize, now_ms: i64) -> Expected {
        match self.is_live(session, now_ms) {
            true => Ok(()),
            false if self.is_suspended => SUSPENDED,
            false => NOT_SIGNED_IN,
        }
    }

    fn is_open(&self, invite: usize, now_ms: i64) -> bool {
        let invite = &self.invites[invite];
        invite.is_open && now_ms < invite.invited.expires_at_ms
    }

    /// Counts an action of a member against its rate. The operator has no rate.
    fn take(by: &Actor, rate: &mut ModelRate, now_ms: i64) -> Expected {
        match by {
            Actor::Operator | Actor::Console(_) | Actor::Key(_) => Ok(()),
            Actor::Member(_) => rate.take(now_ms, 30, HOUR_MS),
        }
    }

    /// The actor of a number: 0 is the operator.
    fn actor(&self, by: usize) -> (Actor, Expected) {
        if by == 0 || self.members.is_empty() {
            return (Actor::Operator, Ok(()));
        }
        let member = &self.members[by % self.members.len()];
        let expected = match member.role {
            _ if !member.is_here => NOT_SIGNED_IN,
            Role::Owner => Ok(()),
            _ => Err((403, "role_forbids")),
        };
        (Actor::Member(member.id), expected)
    }

    fn lock_out(&mut self, member: usize) {
        self.members[member].passkey = None;
        for session in self.sessions.iter_mut().filter(|session| session.member == member) {
            session.is_ended = true;
        }
        for invite in self.invites.iter_mut().filter(|invite| invite.recovers == Some(member)) {
            invite.is_open = false;
        }
        self.withdraw_invites_by(member);
    }

    fn withdraw_invites_by(&mut self, member: usize) {
        let by = Actor::Member(self.members[member].id);
        let issued = self.invites.iter_mut().filter(|invite| invite.by == by);
        issued.for_each(|invite| invite.is_open = false);
    }

    fn open(&mut self, text: String, member: usize, now_ms: i64, is_local: bool) {
        self.sessions.push(ModelSession {
            text,
            member,
            created_ms: now_ms,
            seen_ms: now_ms,
            verified_ms: (!is_local).then_some(now_ms),
            is_ended: false,
        });
    }

    /// The error for the last owner, if a change of a member's role leaves none.
    fn last_owner(&self, member: usize, role: Option<Role>) -> Expected {
        let is_owner = |role| role == Role::Owner;
        let here = || self.members.iter().enumerate().filter(|(_, member)| member.is_here);
        let before = here().any(|(_, member)| is_owner(member.role));
        let after = here().any(|(at, of)| if at == member { role.is_some_and(is_owner) } else { is_owner(of.role) });
        if before && !after { Err((409, "last_owner")) } else { Ok(()) }
    }
}

/// Carries out one step in both, and compares their answers.
fn step(world: &World, model: &mut Model, op: &Op) {
    let now_ms = world.now_ms.get();
    match *op {
        Op::Invite { by, role } => {
            let (actor, expected) = model.actor(by);
            let expected = expected.and_then(|()| Model::take(&actor, &mut model.invited, now_ms));
            let answer = world.invite(actor.clone(), "Somebody", ROLES[role]);
            assert_eq!(outcome(answer.clone()), expected);
            if let Ok(invited) = answer {
                model.changes += 1;
                model.invites.push(ModelInvite {
                    invited,
                    role: Some(ROLES[role]),
                    recovers: None,
                    by: actor,
                    is_open: true,
                });
            }
        }
        Op::Recover { by, member } if !model.members.is_empty() => {
            let (actor, mut expected) = model.actor(by);
            let at = member % model.members.len();
            let member = &model.members[at];
            expected = expected.and_then(|()| match actor {
                Actor::Member(id) if id == member.id => Err((403, "role_forbids")),
                _ if !member.is_here => NOT_FOUND,
                _ => Ok(()),
            });
            expected = expected.and_then(|()| Model::take(&actor, &mut model.invited, now_ms));
            let answer = world.recover(actor.clone(), member.id);
            assert_eq!(outcome(answer.clone()), expected);
            if let Ok(invited) = answer {
                model.changes += 1;
                model.lock_out(at);
                model.invites.push(ModelInvite { invited, role: None, recovers: Some(at), by: actor, is_open: true });
            }
        }
        Op::Accept { invite, is_local } if !model.invites.is_empty() => {
            let at = invite % model.invites.len();
            let expected = match model.is_open(at, now_ms) {
                false => model.unknown.take(now_ms, 10, MINUTE_MS).and(UNKNOWN_INVITE),
                true if model.is_suspended => SUSPENDED,
                true => Ok(()),
            };
            let text = model.invites[at].invited.invite.clone();
            let passkey = (!is_local).then(|| world.new_passkey());
            let answer = world.accept_with(&text, passkey.clone());
            assert_eq!(outcome(answer.clone()), expected);
            if let Ok(SignedIn { session, member: id }) = answer {
                model.changes += 1;
                model.invites[at].is_open = false;
                let passkey = passkey.map(|passkey| {
                    let person = Person { id, credential: passkey.credential_id, session: session.clone() };
                    (person, passkey.sign_count)
                });
                let member = model.invites[at].recovers.unwrap_or(model.members.len());
                match model.invites[at].role {
                    Some(role) => model.members.push(ModelMember { id, role, is_here: true, passkey }),
                    None => {
                        assert_eq!(model.members[member].id, id);
                        model.members[member].passkey = passkey;
                    }
                }
                model.open(session, member, now_ms, is_local);
            }
        }
        Op::Withdraw { by, invite } if !model.invites.is_empty() => {
            let (by, expected) = model.actor(by);
            let at = invite % model.invites.len();
            let expected = expected.and(if model.is_open(at, now_ms) { Ok(()) } else { NOT_FOUND });
            let invite_id = model.invites[at].invited.invite_id.clone();
            let answer = world.send(WithdrawInvite { by, invite_id });
            assert_eq!(outcome(answer), expected);
            if expected.is_ok() {
                model.changes += 1;
                model.invites[at].is_open = false;
            }
        }
        Op::SignIn { person, ahead } if !model.members.is_empty() => {
            let at = person % model.members.len();
            let is_suspended = model.is_suspended;
            let Some((person, count)) = &mut model.members[at].passkey else {
                return;
            };
            let answer = world.sign_in(person, *count + ahead);
            let expected = match ahead > 0 {
                false => PASSKEY_REFUSED,
                true if is_suspended => SUSPENDED,
                true => Ok(()),
            };
            assert_eq!(outcome(answer.clone()), expected);
            if let Ok(session) = answer {
                *count += ahead;
                model.changes += 1;
                model.open(session, at, now_ms, false);
            }
        }
        Op::Verify { session, person, ahead } if !model.sessions.is_empty() && !model.members.is_empty() => {
            let (at, member) = (session % model.sessions.len(), person % model.members.len());
            let signed_in = model.signed_in(at, now_ms);
            let session = &mut model.sessions[at];
            let Some((person, count)) = &mut model.members[member].passkey else {
                return;
            };
            let is_right = session.member == member && ahead > 0;
            let expected = signed_in.and(if is_right { Ok(()) } else { PASSKEY_REFUSED });
            assert_eq!(outcome(world.verify(&session.text, person, *count + ahead)), expected);
            if expected.is_ok() {
                *count += ahead;
                (session.seen_ms, session.verified_ms) = (now_ms, Some(now_ms));
            }
        }
        Op::Use { session, session_use } if !model.sessions.is_empty() => {
            let at = session % model.sessions.len();
            let signed_in = model.signed_in(at, now_ms);
            let session = &mut model.sessions[at];
            let answer = world.session_in_use(&session.text, session_use);
            assert_eq!(outcome(answer), signed_in);
            let is_due = now_ms - session.seen_ms >= 10 * MINUTE_MS;
            if signed_in.is_ok() && is_due && session_use == SessionUse::Action {
                session.seen_ms = now_ms;
            }
        }
        Op::SignOut { session } if !model.sessions.is_empty() => {
            let at = session % model.sessions.len();
            let text = model.sessions[at].text.clone();
            assert_eq!(outcome(world.send(SignOut { session: text })), Ok(()));
            if model.is_live(at, now_ms) {
                model.changes += 1;
                model.sessions[at].is_ended = true;
            }
        }
        Op::End { by, session } if !model.sessions.is_empty() && !model.members.is_empty() => {
            let (at, by) = (session % model.sessions.len(), by % model.members.len());
            let Ok(read) = world.session(&model.sessions[at].text) else {
                return;
            };
            let (member, session_id) = (model.members[by].id, read.session_id);
            let is_own = model.sessions[at].member == by;
            let answer = world.send(EndSession { member, session_id });
            assert_eq!(outcome(answer), if is_own { Ok(()) } else { NOT_FOUND });
            if is_own {
                model.changes += 1;
                model.sessions[at].is_ended = true;
            }
        }
        Op::Change { by, member, role } if !model.members.is_empty() => {
            let (actor, expected) = model.actor(by);
            let at = member % model.members.len();
            let role = role.map(|role| ROLES[role]);
            let member = &model.members[at];
            let (id, is_change) = (member.id, role != Some(member.role));
            let known = if member.is_here { Ok(()) } else { NOT_FOUND };
            let mut expected = expected.and(known).and_then(|()| model.last_owner(at, role));
            if role.is_some() && is_change {
                expected = expected.and_then(|()| Model::take(&actor, &mut model.settings, now_ms));
            }
            assert_eq!(outcome(world.change(actor.clone(), id, role)), expected);
            if expected.is_ok() {
                model.changes += usize::from(is_change);
                match role {
                    Some(role) => {
                        model.members[at].role = role;
                        if role != Role::Owner {
                            model.withdraw_invites_by(at);
                        }
                    }
                    None => {
                        model.lock_out(at);
                        model.members[at].is_here = false;
                    }
                }
            }
        }
        Op::Suspend(is_suspended) => {
            world.suspend(is_suspended);
            model.changes += usize::from(is_suspended != model.is_suspended);
            model.is_suspended = is_suspended;
            if is_suspended {
                model.sessions.iter_mut().for_each(|session| session.is_ended = true);
            }
        }
        Op::Pass(ms) => world.pass(ms),
        Op::Sweep => drop(origin::objects::accounts::alarm(&world.db, now_ms).unwrap()),
        _ => {}
    }
}

/// Compares everything that can be read.
fn compare(world: &World, model: &Model) {
    let now_ms = world.now_ms.get();
    let Members { mut members, invites } = world.members();
    members.sort_by_key(|member| member.member);
    let mut expected: Vec<_> = model.members.iter().filter(|member| member.is_here).collect();
    expected.sort_by_key(|member| member.id);
    let shown = members.iter().map(|member| (member.member, member.role, member.passkeys == 1));
    let expected = expected.iter().map(|member| (member.id, member.role, member.passkey.is_some()));
    assert_eq!(shown.collect::<Vec<_>>(), expected.collect::<Vec<_>>());

    let mut shown: Vec<_> = invites.into_iter().map(|invite| invite.invite_id).collect();
    shown.sort();
    let open = (0..model.invites.len()).filter(|at| model.is_open(*at, now_ms));
    let mut open: Vec<_> = open.map(|at| model.invites[at].invited.invite_id.clone()).collect();
    open.sort();
    assert_eq!(shown, open);

    for (at, session) in model.sessions.iter().enumerate() {
        assert_eq!(world.is_live(&session.text), model.is_live(at, now_ms), "session {at}");
        if let Ok(read) = world.session(&session.text) {
            let times = (read.times.created_at_ms, read.times.last_seen_at_ms, read.times.verified_at_ms);
            assert_eq!(times, (session.created_ms, session.seen_ms, session.verified_ms));
            let member = &model.members[session.member];
            assert_eq!((read.member, read.role), (member.id, member.role));
            let other = |other: &ModelMember| other.is_here && other.role == Role::Owner;
            assert!(read.recoveries.is_empty() || other(member));
        }
    }
    assert_eq!(world.audit().len(), model.changes.min(200), "each change has one row");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn an_account_behaves_like_its_model(ops in ops()) {
        let (world, mut model) = (World::new(), Model::default());
        for op in &ops {
            step(&world, &mut model, op);
            compare(&world, &model);
        }
    }
}

/// The account admits nobody whom the model refuses, whatever the copy of the account says.
fn compare_restored(world: &World, model: &Model) {
    let now_ms = world.now_ms.get();
    for (at, session) in model.sessions.iter().enumerate() {
        assert!(!world.is_live(&session.text) || model.is_live(at, now_ms), "session {at}");
    }
    for (at, invite) in model.invites.iter().enumerate() {
        let read = world.read_invite(&invite.invited.invite);
        assert!(read.is_err() || model.is_open(at, now_ms), "invite {at}");
    }
    let roles = world.members().members.into_iter();
    for member in roles {
        let known = model.members.iter().find(|known| known.id == member.member).unwrap();
        assert!(known.is_here && known.role == member.role, "{member:?}");
    }
    for member in &model.members {
        let Some((person, count)) = &member.passkey else {
            continue;
        };
        let signed_in = world.sign_in(person, count + 100);
        assert!(signed_in.is_err() || member.is_here && !model.is_suspended, "{:?}", member.id);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn nobody_gets_in_again_because_an_account_is_put_back(ops in ops(), at in 0..80_usize) {
        let (mut world, mut model) = (World::new(), Model::default());
        let mut copy = world.db.copy();
        for (nth, op) in ops.iter().enumerate() {
            step(&world, &mut model, op);
            if nth == at {
                copy = world.db.copy();
            }
        }
        world.put_back(copy);
        compare_restored(&world, &model);
    }
}
