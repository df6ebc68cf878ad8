//! A publisher's calls about one of its rewards. The outbox checks that its app is the publisher's.

use serde::{Deserialize, Serialize};

use domain::model::PublisherId;

/// `GET …/rewards/{transaction_id}`: the story of a reward, by its id or that of its reversal or of a notice about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadReward {
    pub publisher: PublisherId,
    pub transaction_id: String,
    /// Whether the reader may see an analyst's fields only.
    pub is_analyst: bool,
}

/// `POST …/rewards/{transaction_id}/replay`. Each call sends the callback again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayReward {
    pub publisher: PublisherId,
    pub transaction_id: String,
}
