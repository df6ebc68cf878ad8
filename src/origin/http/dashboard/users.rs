//! An owner erases a user of all apps, or takes along what is stored of one.

use worker::Request;

use super::visitor::Visitor;
use crate::http::{
    handlers::UserCall,
    isolate::RequestContext,
    refusal::HandlerResult,
    users::{self, UserBody},
};

pub async fn call(
    context: &RequestContext,
    visitor: &Visitor,
    call: UserCall,
    mut request: Request,
) -> HandlerResult {
    let body = UserBody::read(&mut request).await?;
    users::carry_out(context, &visitor.publisher, visitor.actor(), call, body).await
}
