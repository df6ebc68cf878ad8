//! `origin/clicks` as Workers runs it.

use worker::{DurableObject, Env, Request, Response, Result, State, durable_object};

use super::{MIGRATIONS, alarm, handle, next_alarm};
use crate::origin::shell::Shell;

#[durable_object(alarm)]
pub struct Clicks {
    shell: Shell,
}

impl DurableObject for Clicks {
    fn new(state: State, _env: Env) -> Self {
        Self {
            shell: Shell::new("clicks", &state, MIGRATIONS),
        }
    }

    async fn fetch(&self, request: Request) -> Result<Response> {
        self.shell.serve(request, handle, next_alarm).await
    }

    async fn alarm(&self) -> Result<Response> {
        self.shell.wake(alarm).await
    }
}
