//! The origin Worker's paths that the edge knows. Where one address serves both Workers, the edge forwards requests for
//! them by the service binding.

/// The edge's service binding to the origin Worker.
pub const BINDING: &str = "ORIGIN";
/// The prefix of the operator's interface.
pub const OPERATOR_PREFIX: &str = "/v1/operator/";
/// `POST` rebuilds and publishes both snapshots. An edge that forwards it adopts them.
pub const REFRESH: &str = "/v1/operator/refresh";
/// The dashboard's page. Its views and assets have paths below it.
pub const DASHBOARD: &str = "/dashboard";
/// The prefix of the dashboard's API.
pub const DASHBOARD_PREFIX: &str = "/v1/dashboard/";
/// The OpenAPI description.
pub const DESCRIPTION: &str = "/openapi.json";
/// The health route, which each Worker has.
pub const HEALTH: &str = "/healthz";

/// Whether a path is the dashboard's.
pub fn is_dashboard(path: &str) -> bool {
    let is_page = path
        .strip_prefix(DASHBOARD)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    is_page || path.starts_with(DASHBOARD_PREFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dashboard_has_its_page_what_is_below_it_and_its_api() {
        for own in [
            "/dashboard",
            "/dashboard/",
            "/dashboard/reports",
            "/v1/dashboard/overview",
        ] {
            assert!(is_dashboard(own), "{own}");
        }
        for other in [
            "/",
            "/dashboards",
            "/v1/dashboard",
            "/v1/operator/dashboard",
            "/x/dashboard",
        ] {
            assert!(!is_dashboard(other), "{other}");
        }
    }
}
