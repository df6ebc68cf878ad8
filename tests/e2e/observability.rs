//! What an operator sees: the log (`log`, `whose`), the metrics (`metrics`), how the service is
//! (`health`), and the callbacks of all apps (`callbacks`).

mod callbacks;
mod health;
mod log;
mod metrics;
mod whose;
