//! Tests of what an operator observes: the request log (`log`) and its sampling by owner (`sampling`), the metrics
//! (`metrics`), health checks (`health`), and the callbacks of all apps (`callbacks`).

mod callbacks;
mod health;
mod log;
mod metrics;
mod sampling;
