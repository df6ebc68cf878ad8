//! The keys that check signed clicks. An isolate opens an app's click secrets once and keeps the keys.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use domain::{
    model::{AppId, Vault},
    snapshot::tracking::apps::AppView,
    tracking::signature::{self, SigningKeys},
};
use platform::log;

#[derive(Default)]
pub struct OpenedKeys {
    of_apps: RefCell<HashMap<AppId, Opened>>,
}

struct Opened {
    /// The encrypted secrets, which identify the opened ones. They differ after a change of the secrets or of the key
    /// that encrypts them.
    sealed: Vec<u8>,
    /// The opened keys; `None` if no key of the vault decrypts the secrets.
    keys: Option<Rc<SigningKeys>>,
}

impl OpenedKeys {
    /// Returns the keys of an app with these encrypted secrets. If no key of the vault decrypts the secrets, returns
    /// `None`, and logs an error the first time.
    pub fn get(&self, vault: &Vault, app: &AppView<'_>, sealed: &[u8]) -> Option<Rc<SigningKeys>> {
        let mut of_apps = self.of_apps.borrow_mut();
        if let Some(known) = of_apps.get(&app.id)
            && known.sealed == sealed
        {
            return known.keys.clone();
        }
        let opened = vault.open(&signature::purpose(&app.id.to_string()), sealed);
        let keys = opened.and_then(|opened| SigningKeys::parse(&opened)).map(Rc::new);
        if keys.is_none() {
            let problem = format_args!("no key in EDGE_KEYS decrypts the click secrets of app {}", app.id);
            log::error("click", problem);
        }
        let known = Opened { sealed: sealed.to_vec(), keys: keys.clone() };
        of_apps.insert(app.id, known);
        keys
    }
}
