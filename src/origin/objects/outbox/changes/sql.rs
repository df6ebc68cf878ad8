//! The statement that reads changed rewards.

platform::statements! {
    /// first number (exclusive), last number (inclusive), maximum rewards → columns of each reward's story, number of
    /// the reward's newest change
    pub const CHANGED = concat!("SELECT ", story_columns!(), ", n.number FROM (
          SELECT reward, MAX(number) AS number FROM (
            SELECT entry AS number, COALESCE(after, entry) AS reward FROM entries WHERE entry > ?1 AND entry <= ?2
            UNION ALL SELECT movement, entry FROM entries WHERE movement <> entry AND movement > ?1 AND movement <= ?2
            UNION ALL SELECT number, COALESCE(after, x.entry) FROM changes h JOIN entries x ON x.entry = h.entry
              WHERE number > ?1 AND number <= ?2)
          GROUP BY reward) n
        JOIN entries e ON e.entry = n.reward
        JOIN conversions c ON c.nonce = e.nonce AND c.goal = e.goal
        ORDER BY n.number LIMIT ?3");
}
