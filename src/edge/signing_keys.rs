//! The keys that check signed clicks. An isolate opens the click secrets of an app once and keeps their keys, since
//! opening costs as much as a dozen checks.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use domain::{
    catalog::snapshot::tracking::AppView,
    model::{AppId, credentials::Vault},
    tracking::signature::{self, SigningKeys},
};

#[derive(Default)]
pub struct OpenedKeys {
    of_apps: RefCell<HashMap<AppId, Opened>>,
}

struct Opened {
    /// A change of the secrets, or of the key that seals them, seals afresh. Then they are opened anew.
    sealed: Vec<u8>,
    keys: Rc<SigningKeys>,
}

impl OpenedKeys {
    /// The keys of an app with these sealed secrets. `None` if no key of the vault opens them.
    pub fn get(&self, vault: &Vault, app: &AppView<'_>, sealed: &[u8]) -> Option<Rc<SigningKeys>> {
        if let Some(known) = self.of_apps.borrow().get(&app.id)
            && known.sealed == sealed
        {
            return Some(Rc::clone(&known.keys));
        }
        let opened = vault.open(&signature::purpose(&app.id.to_string()), sealed)?;
        let keys = Rc::new(SigningKeys::parse(&opened)?);
        let known = Opened {
            sealed: sealed.to_vec(),
            keys: Rc::clone(&keys),
        };
        self.of_apps.borrow_mut().insert(app.id, known);
        Some(keys)
    }
}
