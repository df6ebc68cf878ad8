//! The name and the address of an outbox.

use super::BINDING;
use crate::operation::ObjectAddress;
use domain::model::AppId;

/// One of an app's outboxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutboxShard {
    /// The app that owns the outbox.
    pub app: AppId,
    /// The outbox's number, at least 0 and below the app's `outbox_shards`.
    pub number: u8,
}

impl OutboxShard {
    /// The outbox of an app with a number.
    pub const fn new(app: AppId, number: u8) -> Self {
        Self { app, number }
    }

    /// The name of the outbox's object. With another name, its conversions would be lost.
    pub fn object_name(self) -> String {
        format!("outbox-{}-{}", self.app, self.number)
    }

    /// Returns the outbox with this object name; `None` for the name of an object of another kind.
    pub fn of_object(name: &str) -> Option<Self> {
        Self::parse(name.strip_prefix("outbox-")?, '-')
    }

    /// The outbox's address. The path names the shard, since an object does not know its own name when its alarm starts
    /// it.
    pub fn address(self) -> ObjectAddress {
        ObjectAddress { binding: BINDING, name: self.object_name(), path: format!("/{}/{}", self.app, self.number) }
    }

    /// The shard in an address's path.
    pub fn parse_path(path: &str) -> Option<Self> {
        Self::parse(path.strip_prefix('/')?, '/')
    }

    fn parse(text: &str, separator: char) -> Option<Self> {
        let (app, number) = text.split_once(separator)?;
        Some(Self { app: AppId::parse(app)?, number: number.parse().ok()? })
    }
}
