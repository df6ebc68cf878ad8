//! The origin Worker's paths that the edge knows. Where one address serves both Workers, the edge forwards requests for
//! them by the service binding.

/// The edge's service binding to the origin Worker.
pub const BINDING: &str = "ORIGIN";
/// The prefix of the operator's interface.
pub const OPERATOR_PREFIX: &str = "/v1/operator/";
/// `POST` rebuilds and publishes both snapshots. An edge that forwards it adopts them.
pub const REFRESH: &str = "/v1/operator/refresh";
/// The OpenAPI description.
pub const DESCRIPTION: &str = "/openapi.json";
/// The health route, which each Worker has.
pub const HEALTH: &str = "/healthz";
