//! A member's own passkeys: the list, a further one, and the removal of one.

use serde_json::{Value, json};
use worker::Request;

use super::{
    gate::Member,
    members::{ask, seconds},
    passkeys::{
        CredentialBody, Person, begin_in_session, challenge_of, creation_options, new_passkey, refuse,
    },
    sign_in::user_agent,
};
use crate::http::{
    calls::segment,
    config::site::SiteConfig,
    isolate::RequestContext,
    refusal::{HandlerResult, Refusal},
};
use contract::{
    accounts::{AddPasskey, PasskeyRow, ReadPasskeys, RemovePasskey},
    operation::Done,
};
use domain::{
    accounts::{
        challenge::CeremonyPurpose,
        webauthn::{CredentialDescriptor, PASSKEY_REFUSED, Registration},
    },
    model::credentials,
};
use platform::http::answer::Answer;

async fn read(context: &RequestContext, member: &Member) -> Result<Vec<PasskeyRow>, Refusal> {
    let read = ReadPasskeys {
        member: member.session.member,
    };
    ask(context, member, read).await
}

pub async fn list(context: &RequestContext, member: &Member) -> HandlerResult {
    let passkeys = read(context, member).await?.into_iter();
    let passkeys: Vec<Value> = passkeys
        .map(|passkey| {
            json!({
                "passkey_id": passkey.passkey_id,
                "user_agent": passkey.user_agent,
                "created_at": seconds(passkey.created_at_ms),
                "last_used_at": passkey.last_used_at_ms.map(seconds),
            })
        })
        .collect();
    Ok(Answer::json(200, json!({ "passkeys": passkeys }).to_string()))
}

/// `POST passkeys/another/creation`: an authenticator that has one of the member's passkeys makes no second.
pub async fn creation(context: &RequestContext, config: &SiteConfig, member: &Member) -> HandlerResult {
    let passkeys = read(context, member).await?;
    let existing: Vec<_> = passkeys
        .iter()
        .map(|passkey| CredentialDescriptor {
            credential_id: &passkey.credential_id.0,
            transports: &passkey.transports,
        })
        .collect();
    let person = Person {
        account: member.account.id(),
        owner: member.account.owner(),
        member: member.session.member,
        name: &member.session.name,
    };
    let challenge = begin_in_session(context, member, CeremonyPurpose::Addition)?;
    Ok(creation_options(context, config, &person, &challenge, &existing))
}

pub async fn add(
    context: &RequestContext,
    config: &SiteConfig,
    member: &Member,
    mut request: Request,
) -> HandlerResult {
    let user_agent = user_agent(&request);
    let CredentialBody { credential, .. } = CredentialBody::read(&mut request).await?;
    let registration = Registration::parse(credential.get()).map_err(refuse)?;
    let (purpose, binding) = (CeremonyPurpose::Addition, credentials::hash(&member.token));
    let (issued, challenge) = challenge_of(context, registration.challenge(), purpose, &binding)?;
    if issued.account != Some(member.account.id()) {
        return Err(PASSKEY_REFUSED.into());
    }
    let add = AddPasskey {
        session: member.token.clone(),
        passkey: new_passkey(config, registration, (&issued, challenge))?,
        user_agent,
    };
    let Done {} = ask(context, member, add).await?;
    Ok(Answer::new(204))
}

pub async fn remove(context: &RequestContext, member: &Member, segments: &[&str]) -> HandlerResult {
    let remove = RemovePasskey {
        session: member.token.clone(),
        passkey_id: segment(segments, 0),
    };
    let Done {} = ask(context, member, remove).await?;
    Ok(Answer::new(204))
}
