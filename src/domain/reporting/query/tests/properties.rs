//! Random queries, compared with a naive parser.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{model::ApiError, reporting::query::errors::INCOMPATIBLE_DIMENSION_METRIC};

/// The content of a random query, before it is written as JSON.
#[derive(Clone, Debug)]
struct RandomQuery {
    start: i64,
    days: i64,
    dimensions: Vec<Dimension>,
    metrics: Vec<Metric>,
    filters: Vec<(Dimension, Vec<String>)>,
    order: Vec<(usize, bool)>,
    page: Option<u64>,
    count: Option<u32>,
}

prop_compose! {
    fn random_query()(
        start in -719_528..2_932_000_i64,
        days in 0..=90_i64,
        dimensions in prop::collection::vec(prop::sample::select(&Dimension::ALL[..]), 1..9),
        metrics in prop::collection::vec(prop::sample::select(&Metric::ALL[..]), 1..12),
        filters in prop::collection::vec(
            (prop::sample::select(&Dimension::ALL[..]), prop::collection::vec("[a-cA-C]|[0-2]|é\"", 1..6)), 0..5),
        order in prop::collection::vec((0..16_usize, any::<bool>()), 0..6),
        page in prop::option::of(1..=MAX_PAGE),
        count in prop::option::of(1..=MAX_COUNT),
    ) -> RandomQuery {
        RandomQuery { start, days, dimensions, metrics, filters, order, page, count }
    }
}

impl RandomQuery {
    fn dates(&self) -> [UtcDay; 2] {
        [self.start, self.start + self.days].map(|number| UtcDay::from_number(number).unwrap())
    }

    /// The order columns, chosen from the metrics and the requested dimensions.
    fn columns(&self) -> Vec<(Column, bool)> {
        let all: Vec<_> = Metric::ALL
            .map(Column::Metric)
            .into_iter()
            .chain(self.dimensions.iter().copied().map(Column::Dimension))
            .collect();
        self.order.iter().map(|(nth, ascending)| (all[nth % all.len()], *ascending)).collect()
    }

    fn body(&self) -> Value {
        let [start, end] = self.dates();
        let name = |column: Column| match column {
            Column::Dimension(dimension) => dimension.as_str(),
            Column::Metric(metric) => metric.as_str(),
        };
        let number = |value: &String| match value.parse::<u8>() {
            Ok(number) => json!(number),
            Err(_) => json!(value),
        };
        let filters: Vec<_> = self.filters.iter().map(|(dimension, values)| {
            json!({ "dimension": dimension.as_str(), "values": values.iter().map(number).collect::<Vec<_>>() })
        }).collect();
        let order: Vec<_> = self
            .columns()
            .into_iter()
            .map(|(column, ascending)| json!({ "column": name(column), "ascending": ascending }))
            .collect();
        let mut body = json!({
            "date_range": { "start_date": start.to_string(), "end_date": end.to_string() },
            "dimensions": self.dimensions.iter().map(|dimension| dimension.as_str()).collect::<Vec<_>>(),
            "metrics": self.metrics.iter().map(|metric| metric.as_str()).collect::<Vec<_>>(),
            "filters": filters,
            "order_by": order,
            "pagination": {},
        });
        if let Some(page) = self.page {
            body["pagination"]["page"] = json!(page);
        }
        if let Some(count) = self.count {
            body["pagination"]["count"] = json!(count);
        }
        body
    }

    fn expected(&self) -> Result<Query, ApiError> {
        let columns = self.columns();
        let filtered = self.filters.iter().map(|(dimension, _)| *dimension);
        let ordered = columns.iter().filter_map(|(column, _)| match column {
            Column::Metric(metric) => Some(*metric),
            Column::Dimension(_) => None,
        });
        let mut used = self.dimensions.iter().copied().chain(filtered.clone());
        let mut counted = self.metrics.iter().copied().chain(ordered).map(Metric::as_str);
        let not_by_ad_tag = ["ad_requests", "ad_responses", "fill_rate", "show_rate"];
        if used.any(|dimension| dimension == Dimension::AdTag) && counted.any(|name| not_by_ad_tag.contains(&name)) {
            return Err(INCOMPATIBLE_DIMENSION_METRIC);
        }
        let [start, end] = self.dates();
        let dimensions = unique(self.dimensions.iter().copied(), |d| *d);
        let metrics = unique(self.metrics.iter().copied(), |m| *m);
        let filter = |dimension| {
            let value = |value: &String| match dimension {
                Dimension::Country => value.to_ascii_uppercase(),
                _ => value.clone(),
            };
            let filters = self.filters.iter().filter(|(other, _)| *other == dimension);
            let sets = filters.map(|(_, values)| values.iter().map(value).collect::<BTreeSet<_>>());
            let values = sets.reduce(|all, set| &all & &set).unwrap().into_iter().collect();
            Filter { dimension, values }
        };
        let filters = unique(filtered, |d| *d).into_iter().map(filter).collect();
        let mut order: Vec<_> = unique(columns.into_iter(), |(column, _)| *column)
            .into_iter()
            .map(|(column, ascending)| Order { column, ascending })
            .collect();
        if order.is_empty() {
            order = match dimensions.contains(&Dimension::Date) {
                true => vec![by(Column::Dimension(Dimension::Date), true)],
                false => vec![by(Column::Metric(metrics[0]), false)],
            };
        }
        Ok(Query {
            start,
            end,
            dimensions,
            metrics,
            filters,
            order,
            page: self.page.unwrap_or(1),
            count: self.count.unwrap_or(10_000),
        })
    }
}

/// The first item with each key.
fn unique<T: Copy, K: PartialEq>(items: impl Iterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut seen = Vec::new();
    items
        .filter(|item| {
            let new = !seen.contains(&key(item));
            seen.push(key(item));
            new
        })
        .collect()
}

/// Random JSON from the shapes and words of queries.
fn any_json() -> impl Strategy<Value = Value> {
    let words = "date_range start_date end_date dimensions metrics filters order_by pagination dimension values \
        column ascending page count date ad_tag clicks fill_rate 2026-08-01 2026-10-30 US";
    let words: Vec<_> = words.split(' ').chain([""]).collect();
    let word = prop::sample::select(words);
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|value| json!(value)),
        any::<i64>().prop_map(|value| json!(value)),
        any::<f64>().prop_map(|value| json!(value)),
        word.clone().prop_map(|value| json!(value)),
        ".{0,4}".prop_map(|value| json!(value)),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(|items| json!(items)),
            prop::collection::hash_map(word.clone().prop_map(str::to_owned), inner, 0..6)
                .prop_map(|members| json!(members)),
        ]
    })
}

proptest! {
    #[test]
    fn a_valid_query_is_parsed_as_a_naive_parser_does(query in random_query()) {
        prop_assert_eq!(Query::parse(&query.body().to_string()), query.expected(), "{}", query.body());
    }

    #[test]
    fn any_body_is_parsed_or_refused_with_400(
        json in any_json(),
        member in prop::sample::select(vec!["dimensions", "metrics", "date_range", "filters", "order_by", "pagination"]),
        text in ".{0,40}",
    ) {
        for body in [json.to_string(), with(member, json).to_string(), text] {
            if let Err(error) = Query::parse(&body) {
                prop_assert_eq!(error.status, 400);
            }
        }
    }
}
