//! The origin Worker's paths that the edge knows. If one host serves both Workers, the edge forwards requests for these
//! paths over the service binding.

/// The edge's service binding to the origin Worker.
pub const BINDING: &str = "ORIGIN";
/// The prefix of the operator's interface.
pub const OPERATOR_PREFIX: &str = "/v1/operator/";
/// `POST` rebuilds and publishes both snapshots. An edge that forwards it also loads them.
pub const REFRESH: &str = "/v1/operator/refresh";
/// The path of the dashboard's page. The paths of its views and assets are below it.
pub const DASHBOARD: &str = "/dashboard";
/// The prefix of the dashboard's API.
pub const DASHBOARD_PREFIX: &str = "/v1/dashboard/";
/// The path of the console's page. The paths of its views and assets are below it.
pub const CONSOLE: &str = "/console";
/// The prefix of the console's calls about its account. All other calls of the console have the operator's paths.
pub const CONSOLE_PREFIX: &str = "/v1/console/";
/// The prefix of a publisher's calls about users, on the reports' host. Each call needs a key of the publisher.
pub const USERS_PREFIX: &str = "/v1/core/users/";
/// The rewards feed, on the reports' host. Each call needs a key of the publisher.
pub const REWARDS: &str = "/v1/core/rewards";
/// The changes of final days, on the reports' host. Each call needs a key of the publisher.
pub const DAY_CHANGES: &str = "/v1/core/reporting/public/signal/report/changes";
/// The call that sets up a test app, on the reports' host. Each call needs a key of the publisher.
pub const TEST_APPS: &str = "/v1/core/test_apps";
/// The page where a click of a test app ends, on the clicks' host, and the prefix of its assets.
pub const TEST_PAGE: &str = "/v2/tracking/test";
/// The OpenAPI description.
pub const DESCRIPTION: &str = "/openapi.json";
/// The health route, which both Workers have.
pub const HEALTH: &str = "/healthz";

/// True for a path of the dashboard.
pub fn is_dashboard(path: &str) -> bool {
    is_page(DASHBOARD, path) || path.starts_with(DASHBOARD_PREFIX)
}

/// True for a path of the console.
pub fn is_console(path: &str) -> bool {
    is_page(CONSOLE, path) || path.starts_with(CONSOLE_PREFIX)
}

fn is_page(root: &str, path: &str) -> bool {
    let below = path.strip_prefix(root);
    below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dashboard_has_its_page_what_is_below_it_and_its_api() {
        for own in ["/dashboard", "/dashboard/", "/dashboard/reports", "/v1/dashboard/overview"] {
            assert!(is_dashboard(own), "{own}");
        }
        for other in ["/", "/dashboards", "/v1/dashboard", "/v1/operator/dashboard", "/x/dashboard"] {
            assert!(!is_dashboard(other), "{other}");
        }
        assert!(is_console("/console/offers") && is_console("/v1/console/session"));
        assert!(!is_console("/consoles") && !is_console("/v1/operator/offers"));
    }
}
