//! Tests of what an operator observes: the request log (`log`) and its sampling by owner (`sampling`), the metrics
//! (`metrics`), health checks (`health`), the callbacks of all apps (`callbacks`), and open items (`attention`).

mod attention;
mod callbacks;
mod health;
mod log;
mod metrics;
mod sampling;
