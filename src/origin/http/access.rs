//! The calls of members in the route table, each with the permission that it needs.

use crate::http::{
    handlers::{Access, DashboardCall, Handler, MemberCall, OperatorCall},
    limits::Pool,
};
use domain::accounts::{permission::Permission, session::SessionUse};
use platform::http::router::{Method, RouteMethod, on};

type Served = RouteMethod<Handler, Pool>;
type Action = Option<&'static str>;

/// A call of the operator that changes nothing.
pub const fn read(method: Method, call: OperatorCall) -> Served {
    needs(method, Permission::ViewStore, None, call)
}

/// A change by the operator, with its name in the audit.
pub const fn write(method: Method, action: &'static str, call: OperatorCall) -> Served {
    needs(method, Permission::ManageStore, Some(action), call)
}

/// A call of the operator with a permission of its own.
pub const fn needs(method: Method, permission: Permission, action: Action, call: OperatorCall) -> Served {
    let access = Access { permission, action };
    on(method, Handler::Operator(call, Some(access)))
}

/// A call of a publisher's member.
pub const fn member(method: Method, call: MemberCall, permission: Permission) -> Served {
    let call = DashboardCall::Member(call, Some(permission), SessionUse::Action);
    on(method, Handler::Dashboard(call))
}

/// A call that pages make again and again without the member, so that it does not extend the session.
pub const fn poll(method: Method, call: MemberCall, permission: Permission) -> Served {
    let call = DashboardCall::Member(call, Some(permission), SessionUse::Poll);
    on(method, Handler::Dashboard(call))
}
