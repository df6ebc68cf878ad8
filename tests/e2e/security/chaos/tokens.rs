//! An advertiser's tokens in the chaos test: the two newest are valid, and a revoked one is not once that is published.

use super::world::{Outcome, Sent, World};
use crate::{
    harness::{CONVERSION, OfferWall},
    random::Random,
};

struct Token {
    id: String,
    token: String,
    /// `None` if an answer was lost, so that newer tokens may or may not have replaced this one.
    valid: Option<bool>,
    history: Vec<String>,
}

pub struct Tokens<'w> {
    world: &'w World<'w>,
    advertiser: String,
    /// In the order of issue.
    issued: Vec<Token>,
}

impl<'w> Tokens<'w> {
    pub fn new(world: &'w World<'w>, wall: &OfferWall<'_>) -> Self {
        let first = Token {
            id: wall.token_id.clone(),
            token: wall.token.clone(),
            valid: Some(true),
            history: vec!["issued".into()],
        };
        Self { world, advertiser: wall.id.clone(), issued: vec![first] }
    }

    pub fn newest(&self) -> &str {
        &self.issued.last().unwrap().token
    }

    /// Issues a token, or revokes one that is not the newest.
    pub fn change(&mut self, random: &mut Random) {
        let path = format!("/v1/operator/advertisers/{}/token", self.advertiser);
        let before = self.issued.len() - 1;
        if random.below(3) == 0 {
            if let Some(token) = self.issued[..before].last_mut().filter(|token| token.valid != Some(false)) {
                let path = format!("{path}/{}", token.id);
                let answer = self.world.until_answered("tokens ended", "DELETE", &path, &Sent::default());
                // 404: a repeated request, or a token that newer ones replaced.
                assert!([204, 404].contains(&answer.status), "{answer:?}, {:#?}", token.history);
                token.valid = Some(false);
                token.history.push(format!("ended: {}", answer.status));
            }
            return;
        }
        let mut lost = 0;
        let answer = loop {
            match self.world.attempt("tokens issued", "POST", &path, &Sent::default()) {
                Outcome::Done(answer) => break answer.json(),
                Outcome::Refused(answer) => panic!("{answer:?}"),
                Outcome::Doubt(_) => lost += 1,
            }
        };
        for (age, token) in self.issued.iter_mut().rev().enumerate() {
            token.history.push(format!("another issued, {lost} answers lost"));
            if age > 0 {
                token.valid = Some(false);
            } else if lost > 0 && token.valid == Some(true) {
                token.valid = None;
            }
        }
        let text = |member: &str| answer[member].as_str().unwrap().to_owned();
        self.issued.push(Token {
            id: text("token_id"),
            token: text("token"),
            valid: Some(true),
            history: vec!["issued".into()],
        });
    }

    /// Repeats a settled conversion once with one of the tokens. A revoked one may be accepted until that is published.
    pub fn check(&self, settled: &str, random: &mut Random) {
        let token = &self.issued[random.below(self.issued.len())];
        if let Some(accepted) = self.expect_accepted(token, settled).filter(|_| token.valid != Some(false)) {
            token.check_accepted(accepted);
        }
    }

    /// Repeats a settled conversion with each token until there is an answer. Returns the number of promises checked.
    pub fn check_all(&self, settled: &str) -> usize {
        self.world.signpost.refresh();
        for token in &self.issued {
            token.check_accepted(self.world.until_known(|| self.expect_accepted(token, settled)));
        }
        self.issued.iter().filter(|token| token.valid.is_some()).count()
    }

    /// Whether a token is accepted, or `None` without an answer.
    fn expect_accepted(&self, token: &Token, settled: &str) -> Option<bool> {
        let path = format!("{CONVERSION}?click_id={settled}&token={}", token.token);
        let answer = self.world.read(&path)?;
        match answer.status {
            200 => Some(true),
            401 => Some(false),
            _ => panic!("{answer:?}"),
        }
    }
}

impl Token {
    fn check_accepted(&self, accepted: bool) {
        assert!(
            self.valid.is_none_or(|valid| valid == accepted),
            "a token should be valid: {:?}, and is: {accepted}; {:#?}",
            self.valid,
            self.history
        );
    }
}
