//! Erases a user in all apps, or exports the data stored about a user, for an owner of the publisher's account.

use worker::Request;

use super::visitor::Visit;
use crate::http::{
    HandlerResult,
    handlers::UserCall,
    users::{self, UserBody},
};

pub async fn call(visit: &Visit<'_>, call: UserCall, mut request: Request) -> HandlerResult {
    let body = UserBody::read(&mut request).await?;
    users::carry_out(visit.context, &visit.publisher, visit.actor(), call, body).await
}
