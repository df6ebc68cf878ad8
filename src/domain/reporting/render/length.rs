//! Computes the length of a body before its rows are in order. With the length in advance, a receiver recognizes a body
//! that ends early as incomplete.

use std::collections::HashMap;

use super::Renderer;
use crate::reporting::{Sums, format::Format, page::Page, query::Query};

/// Adds up the length of a CSV or NDJSON body from its rows in any order.
pub struct BodyLength {
    /// Renders one row at a time.
    renderer: Renderer,
    row: String,
    bytes: u64,
}

impl BodyLength {
    /// `names` must have the names of all apps that occur in the rows.
    pub fn new(query: &Query, format: Format, names: HashMap<String, String>) -> Self {
        let page = Page::new(query.dimensions.clone(), query.metrics.clone());
        let renderer = Renderer::new(page, format, names);
        let mut head = String::new();
        renderer.begin(&mut head);
        Self { bytes: head.len() as u64, renderer, row: head }
    }

    /// Adds the length of a row: a value for each dimension in order, and the sums.
    pub fn add(&mut self, values: &[&str], sums: &Sums) {
        let Self { renderer, row, bytes } = self;
        renderer.page.clear();
        // A single row is never too long for a page.
        if renderer.page.push(values.iter().copied(), *sums).is_some()
            && let Some(added) = renderer.page.row(0)
        {
            row.clear();
            renderer.row(added, true, row);
            *bytes += row.len() as u64;
        }
    }

    /// The length so far, in bytes, with the header.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}
