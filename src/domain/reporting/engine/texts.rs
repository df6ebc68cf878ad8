//! The texts of values by their numbers, for rows that leave the engine.

use super::{
    dictionary::Dictionary,
    plan::{Output, Plan},
    to_usize,
};
use crate::model::UtcDay;

pub struct Texts<'t> {
    /// `YYYY-MM-DD` of each day of the query.
    days: Vec<String>,
    /// For each dictionary, the text of all values, and the end of each value in it.
    dictionaries: Vec<(&'t str, &'t [u32])>,
}

impl<'t> Texts<'t> {
    /// `None` if a value is not UTF-8.
    pub fn new(plan: &Plan<'_>, dictionaries: &'t [Dictionary<'_>]) -> Option<Self> {
        let (first, last) = (plan.query.start.number(), plan.query.end.number());
        let texts = |dictionary: &'t Dictionary<'_>| {
            let (text, ends) = dictionary.texts();
            Some((std::str::from_utf8(text).ok()?, ends))
        };
        Some(Self {
            days: (first..=last).filter_map(UtcDay::from_number).map(|day| day.to_string()).collect(),
            dictionaries: dictionaries.iter().map(texts).collect::<Option<_>>()?,
        })
    }

    /// The text of a value of a requested dimension.
    pub fn get(&self, output: Output, number: u32) -> Option<&str> {
        let number = to_usize(number);
        match output {
            Output::Date => self.days.get(number).map(String::as_str),
            Output::Value(dictionary) => {
                let (text, ends) = self.dictionaries.get(dictionary)?;
                let start = number.checked_sub(1).map_or(Some(0), |before| ends.get(before).copied())?;
                text.get(to_usize(start)..to_usize(*ends.get(number)?))
            }
        }
    }
}
