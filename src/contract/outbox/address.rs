//! The name and the address of an outbox.

use super::BINDING;
use crate::operation::ObjectAddress;
use domain::model::AppId;

/// One of an app's outboxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutboxShard {
    /// The app that owns the outbox.
    pub app: AppId,
    /// Its number, from 0 and below the app's `outbox_shards`.
    pub number: u8,
}

impl OutboxShard {
    /// The outbox of an app with a number.
    pub const fn new(app: AppId, number: u8) -> Self {
        Self { app, number }
    }

    /// The name of its object. With another name, its conversions would be lost.
    pub fn object_name(self) -> String {
        format!("outbox-{}-{}", self.app, self.number)
    }

    /// The outbox with an object's name; `None` for the name of another object.
    pub fn of_object(name: &str) -> Option<Self> {
        Self::parse(name.strip_prefix("outbox-")?, '-')
    }

    /// Its address. The path names the shard, since an object started by its alarm has no name.
    pub fn address(self) -> ObjectAddress {
        ObjectAddress {
            binding: BINDING,
            name: self.object_name(),
            path: format!("/{}/{}", self.app, self.number),
        }
    }

    /// The shard in an address's path.
    pub fn parse_path(path: &str) -> Option<Self> {
        Self::parse(path.strip_prefix('/')?, '/')
    }

    fn parse(text: &str, separator: char) -> Option<Self> {
        let (app, number) = text.split_once(separator)?;
        Some(Self {
            app: AppId::parse(app)?,
            number: number.parse().ok()?,
        })
    }
}
