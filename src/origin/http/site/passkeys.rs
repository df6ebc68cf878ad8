//! Passkey ceremonies: the first passkey of a member with an invite, sign-in, and a fresh passkey within a session. The
//! domain checks everything but the signature, which the runtime's WebCrypto verifies.

use serde::Deserialize;
use serde_json::{json, value::RawValue};
use worker::Request;

use super::{
    gate::{self, Visit},
    sign_in::{account_of, open_invite, open_session, sessions_left, user_agent},
    web_crypto,
};
use crate::http::{HandlerResult, Refusal, RequestContext, calls::internal, config::site::SiteConfig};
use contract::{
    accounts::{
        self, Accept, CountFailure, NewPasskey, PasskeyUse, ReadPasskey, SignIn, SignedIn, SpentChallenge, Verify,
    },
    operation::{Bytes, Done},
};
use domain::{
    accounts::{
        account::Account,
        challenge::{self, CeremonyPurpose, Challenge},
        cookie::Cookie,
        ids::{AccountId, MemberId},
        user_handle,
        webauthn::{
            self, Assertion, CredentialDescriptor, MAX_JSON, PASSKEY_REFUSED, PasskeyError, Registration,
            StoredCredential, User,
        },
    },
    model::{ApiError, CredentialHash, common, credentials},
};
use platform::{
    Random,
    http::{Answer, body, header},
    log,
};

/// Maximum body, in bytes: a credential and an invite.
pub const MAX_BODY: usize = MAX_JSON + 1_024;

/// The client's answer in a ceremony. Only a first passkey comes with an `invite`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CredentialBody {
    invite: Option<String>,
    pub credential: Box<RawValue>,
}

impl CredentialBody {
    pub async fn read(request: &mut Request) -> Result<Self, ApiError> {
        let text = body::read_text(request, MAX_BODY).await?;
        serde_json::from_str(&text).map_err(|error| common::INVALID_JSON.with_message(error.to_string()))
    }
}

/// Logs why a passkey is refused. The caller learns only that it is refused.
fn refuse(error: PasskeyError) -> ApiError {
    log::warn("passkeys", error.as_str());
    PASSKEY_REFUSED
}

fn random(context: &RequestContext) -> Result<[u8; 32], ApiError> {
    let random = context.workers.random();
    random.map_err(|error| internal("site", error))
}

/// Binds a challenge to the mark of a browser's ceremony and to the invite.
fn bind(mark: &str, invite: &str) -> CredentialHash {
    credentials::hash(&format!("{mark} {invite}"))
}

/// Begins a ceremony without a session. A cookie marks the browser, and the challenge is valid only there.
fn begin(
    context: &RequestContext,
    config: &SiteConfig,
    purpose: CeremonyPurpose,
    account: Option<AccountId>,
    invite: &str,
) -> Result<(String, String), ApiError> {
    let random = random(context)?;
    let (mark, secret) = random.split_first_chunk::<16>().ok_or(common::INTERNAL_ERROR)?;
    let secret = secret.first_chunk::<16>().ok_or(common::INTERNAL_ERROR)?;
    let mark = hex::encode(mark);
    let keys = &context.isolate.config.account_keys;
    let binding = bind(&mark, invite);
    let challenge = challenge::issue(keys, purpose, account, &binding, context.now_ms, *secret);
    let cookie = Cookie::ceremony(config.kind, config.site).set(&mark).ok_or(common::INTERNAL_ERROR)?;
    Ok((challenge, cookie))
}

/// Begins a ceremony within a session. The challenge is valid only in this session.
pub fn begin_in_session(visit: &Visit<'_>, purpose: CeremonyPurpose) -> Result<String, ApiError> {
    let context = visit.context;
    let random = random(context)?;
    let secret = random.first_chunk::<16>().ok_or(common::INTERNAL_ERROR)?;
    Ok(challenge::issue(
        &context.isolate.config.account_keys,
        purpose,
        Some(visit.account.id()),
        &credentials::hash(&visit.token),
        context.now_ms,
        *secret,
    ))
}

/// Returns the mark of the browser's ceremony from the cookie.
fn mark_of(config: &SiteConfig, request: &Request) -> Result<String, ApiError> {
    let cookie = Cookie::ceremony(config.kind, config.site);
    let cookies = header(request, "Cookie").unwrap_or_default();
    let mark = cookie.find(&cookies).ok_or(PASSKEY_REFUSED)?;
    Ok(mark.to_owned())
}

/// Checks that a presented challenge was issued for this purpose and binding.
fn challenge_of(
    context: &RequestContext,
    presented: &[u8],
    purpose: CeremonyPurpose,
    binding: &CredentialHash,
) -> Result<(Challenge, SpentChallenge), ApiError> {
    let keys = &context.isolate.config.account_keys;
    let challenge = challenge::verify(keys, presented, purpose, binding, context.now_ms).ok_or(PASSKEY_REFUSED)?;
    let spent = SpentChallenge { id: Bytes(challenge::id(presented).to_vec()), expires_at_ms: challenge.expires_at_ms };
    Ok((challenge, spent))
}

pub async fn creation(context: &RequestContext, config: &SiteConfig, mut request: Request) -> HandlerResult {
    let open = open_invite(context, config, &mut request).await?;
    let (purpose, account) = (CeremonyPurpose::Registration, open.account.id());
    let (challenge, cookie) = begin(context, config, purpose, Some(account), &open.invite)?;
    let person = Person { account, owner: open.account.owner(), member: open.details.member, name: &open.details.name };
    Ok(creation_options(context, config, &person, &challenge, &[]).header("Set-Cookie", cookie))
}

/// The person for whom a passkey is created.
pub struct Person<'a> {
    pub account: AccountId,
    /// The publisher's id; `operator` for the operator.
    pub owner: &'a str,
    pub member: MemberId,
    pub name: &'a str,
}

/// Returns the options for creating a passkey. Authenticators with one of the `existing` passkeys are excluded.
pub fn creation_options(
    context: &RequestContext,
    config: &SiteConfig,
    person: &Person<'_>,
    challenge: &str,
    existing: &[CredentialDescriptor<'_>],
) -> Answer {
    let keys = &context.isolate.config.account_keys;
    let handle = user_handle::issue(keys, person.account, person.member);
    let user = User { handle: &handle, name: &format!("{}, {}", person.name, person.owner), display_name: person.name };
    let options = webauthn::creation_options(&config.party, user, challenge.as_bytes(), existing);
    Answer::json(200, json!({ "options": options }).to_string())
}

/// Checks a created passkey of a member of the account. Its challenge is spent when the passkey is stored.
pub fn new_passkey(
    context: &RequestContext,
    config: &SiteConfig,
    credential: &RawValue,
    (purpose, account): (CeremonyPurpose, AccountId),
    binding: &CredentialHash,
) -> Result<NewPasskey, ApiError> {
    let registration = Registration::parse(credential.get()).map_err(refuse)?;
    let (issued, challenge) = challenge_of(context, registration.challenge(), purpose, binding)?;
    if issued.account != Some(account) {
        return Err(PASSKEY_REFUSED);
    }
    let made = registration.check(&config.party, &issued).map_err(refuse)?;
    Ok(NewPasskey {
        credential_id: Bytes(made.credential_id),
        algorithm: made.algorithm.cose(),
        spki: Bytes(made.spki),
        sign_count: made.sign_count,
        transports: made.transports,
        is_backup_eligible: made.is_backup_eligible,
        is_backed_up: made.is_backed_up,
        challenge,
    })
}

pub async fn create(context: &RequestContext, config: &SiteConfig, mut request: Request) -> HandlerResult {
    let (mark, user_agent) = (mark_of(config, &request)?, user_agent(&request));
    let CredentialBody { invite, credential } = CredentialBody::read(&mut request).await?;
    let invite = invite.ok_or_else(|| common::MISSING_FIELD.with_message("invite is missing"))?;
    let account = account_of(context, config, &invite)?;
    let sessions = sessions_left(context, config, &request, &account).await?;
    let ceremony = (CeremonyPurpose::Registration, account.id());
    let passkey = new_passkey(context, config, &credential, ceremony, &bind(&mark, &invite))?;
    let accept = Accept { invite, passkey: Some(passkey), user_agent };
    let to = accounts::address(account.id());
    let signed_in: SignedIn = context.call(&to, accept).await?;
    open_session(context, config, sessions, &signed_in).await
}

pub fn sign_in_request(context: &RequestContext, config: &SiteConfig) -> HandlerResult {
    let (challenge, cookie) = begin(context, config, CeremonyPurpose::SignIn, None, "")?;
    let options = webauthn::request_options(&config.party, challenge.as_bytes(), &[]);
    let body = json!({ "options": options }).to_string();
    Ok(Answer::json(200, body).header("Set-Cookie", cookie))
}

pub async fn sign_in(context: &RequestContext, config: &SiteConfig, mut request: Request) -> HandlerResult {
    let binding = bind(&mark_of(config, &request)?, "");
    let user_agent = user_agent(&request);
    let CredentialBody { credential, .. } = CredentialBody::read(&mut request).await?;
    let assertion = Assertion::parse(credential.get()).map_err(refuse)?;
    let keys = &context.isolate.config.account_keys;
    // A handle that was never issued, or that belongs to the other site, must wake no object.
    let handle = assertion.user_handle().ok_or(PASSKEY_REFUSED)?;
    let (account, member) = user_handle::open(keys, handle)
        .filter(|(account, _)| Account::kind_of(*account) == config.kind)
        .ok_or(PASSKEY_REFUSED)?;
    let purpose = CeremonyPurpose::SignIn;
    let (owner, passkey) = check_assertion(context, config, account, &assertion, purpose, &binding).await?;
    if owner != member {
        return Err(PASSKEY_REFUSED.into());
    }
    let sign_in = SignIn { passkey, user_agent };
    let to = accounts::address(account);
    let signed_in: SignedIn = context.call(&to, sign_in).await?;
    let sessions = gate::sessions_of(context, config, &request);
    open_session(context, config, sessions, &signed_in).await
}

pub fn verify_request(visit: &Visit<'_>) -> HandlerResult {
    let challenge = begin_in_session(visit, CeremonyPurpose::StepUp)?;
    let options = webauthn::request_options(&visit.config.party, challenge.as_bytes(), &[]);
    Ok(Answer::json(200, json!({ "options": options }).to_string()))
}

pub async fn verify(visit: &Visit<'_>, mut request: Request) -> HandlerResult {
    let (context, config) = (visit.context, visit.config);
    let CredentialBody { credential, .. } = CredentialBody::read(&mut request).await?;
    let assertion = Assertion::parse(credential.get()).map_err(refuse)?;
    let (account, binding) = (visit.account.id(), credentials::hash(&visit.token));
    let purpose = CeremonyPurpose::StepUp;
    let (owner, passkey) = check_assertion(context, config, account, &assertion, purpose, &binding).await?;
    if owner != visit.session.member {
        return Err(PASSKEY_REFUSED.into());
    }
    let verify = Verify { session: visit.token.clone(), passkey };
    let to = accounts::address(account);
    let Done {} = context.call(&to, verify).await?;
    Ok(Answer::new(204))
}

/// Checks an assertion and its signature with the account's stored passkey. Also returns the passkey's member.
async fn check_assertion(
    context: &RequestContext,
    config: &SiteConfig,
    account: AccountId,
    assertion: &Assertion,
    purpose: CeremonyPurpose,
    binding: &CredentialHash,
) -> Result<(MemberId, PasskeyUse), Refusal> {
    let (issued, challenge) = challenge_of(context, assertion.challenge(), purpose, binding)?;
    if issued.account.is_some_and(|issued| issued != account) {
        return Err(PASSKEY_REFUSED.into());
    }
    let to = accounts::address(account);
    let credential_id = Bytes(assertion.credential_id().to_vec());
    let read = ReadPasskey { credential_id: credential_id.clone() };
    let stored = context.call(&to, read).await?;
    let credential = StoredCredential {
        spki: &stored.spki.0,
        sign_count: stored.sign_count,
        is_backup_eligible: stored.is_backup_eligible,
    };
    let refusal = match assertion.check(&config.party, &issued, &credential) {
        Ok(signed) if web_crypto::verifies(&signed).await => {
            let passkey = PasskeyUse {
                credential_id,
                sign_count: signed.sign_count,
                is_backed_up: signed.is_backed_up,
                challenge,
            };
            return Ok((stored.member, passkey));
        }
        Ok(_) => "signature",
        Err(error) => error.as_str(),
    };
    log::warn("passkeys", refusal);
    let Done {} = context.call(&to, CountFailure { credential_id }).await?;
    Err(PASSKEY_REFUSED.into())
}
