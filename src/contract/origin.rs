//! The origin Worker's addresses that the edge knows: it passes requests to them on by the service binding, where one
//! address serves both Workers.

/// The service binding by which the edge reaches the origin Worker.
pub const BINDING: &str = "ORIGIN";
/// The paths of the operator's interface begin with it.
pub const OPERATOR_PREFIX: &str = "/v1/operator/";
/// `POST` rebuilds and publishes both snapshots. An edge that passes it on adopts them.
pub const REFRESH: &str = "/v1/operator/refresh";
/// The description of the API.
pub const DESCRIPTION: &str = "/openapi.json";
/// Each Worker has its own.
pub const HEALTH: &str = "/healthz";
