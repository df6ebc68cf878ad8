//! A member's own passkeys: lists them, adds one and removes one.

use serde_json::{Value, json};
use worker::Request;

use super::{
    gate::Visit,
    members::{ask, seconds},
    passkeys::{CredentialBody, Person, begin_in_session, creation_options, new_passkey},
    sign_in::user_agent,
};
use crate::http::{HandlerResult, Refusal};
use contract::{
    accounts::{AddPasskey, PasskeyRow, ReadPasskeys, RemovePasskey},
    operation::Done,
};
use domain::{
    accounts::{challenge::CeremonyPurpose, webauthn::CredentialDescriptor},
    model::credentials,
};
use platform::http::Answer;

async fn read(visit: &Visit<'_>) -> Result<Vec<PasskeyRow>, Refusal> {
    let read = ReadPasskeys { member: visit.session.member };
    ask(visit, read).await
}

pub async fn list(visit: &Visit<'_>) -> HandlerResult {
    let passkeys = read(visit).await?.into_iter();
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

/// `POST passkeys/another/creation`: excludes authenticators that already have one of the member's passkeys.
pub async fn creation(visit: &Visit<'_>) -> HandlerResult {
    let passkeys = read(visit).await?;
    let existing: Vec<_> = passkeys
        .iter()
        .map(|passkey| CredentialDescriptor {
            credential_id: &passkey.credential_id.0,
            transports: &passkey.transports,
        })
        .collect();
    let person = Person {
        account: visit.account.id(),
        owner: visit.account.owner(),
        member: visit.session.member,
        name: &visit.session.name,
    };
    let challenge = begin_in_session(visit, CeremonyPurpose::Addition)?;
    Ok(creation_options(visit.context, visit.config, &person, &challenge, &existing))
}

pub async fn add(visit: &Visit<'_>, mut request: Request) -> HandlerResult {
    let user_agent = user_agent(&request);
    let CredentialBody { credential, .. } = CredentialBody::read(&mut request).await?;
    let ceremony = (CeremonyPurpose::Addition, visit.account.id());
    let binding = credentials::hash(&visit.token);
    let passkey = new_passkey(visit.context, visit.config, &credential, ceremony, &binding)?;
    let add = AddPasskey { session: visit.token.clone(), passkey, user_agent };
    let Done {} = ask(visit, add).await?;
    Ok(Answer::new(204))
}

pub async fn remove(visit: &Visit<'_>) -> HandlerResult {
    let remove = RemovePasskey { session: visit.token.clone(), passkey_id: visit.segment(0) };
    let Done {} = ask(visit, remove).await?;
    Ok(Answer::new(204))
}
