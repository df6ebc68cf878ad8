//! Measures, which reports add up, and metrics, which are measures or ratios of measures.

use std::cmp::Ordering;

crate::named_values! {
    /// A number of a fact that reports add up, in the order of [`Sums`]. Its text is its name in a row and as a column
    /// of facts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Measure {
        /// Requests for an ad.
        AdRequests = "ad_requests",
        /// Requests that were answered with an ad.
        AdResponses = "ad_responses",
        /// Ads that were shown.
        Impressions = "impressions",
        /// Ads that were clicked.
        Clicks = "clicks",
        /// In micro-USD. Only revenue may be negative, because of reversals.
        Revenue = "revenue",
    }
}

impl Measure {
    /// The measure's index in [`Sums`].
    pub fn index(self) -> usize {
        self as usize
    }
}

/// One value for each [`Measure`], in the order of [`Measure::ALL`]. Sums cannot overflow: a day has at most
/// [`MAX_OF_A_DAY`] of each.
pub type Sums = [i64; Measure::ALL.len()];

/// Maximum of a measure in one day of a publisher, in its unit: 2^53, the largest integer that a Durable Object's
/// SQLite returns exactly. The sums of 91 days, the longest report, are 11 times below the maximum of an `i64`.
pub const MAX_OF_A_DAY: i64 = 1 << 53;

/// A metric of a report. docs/SPEC.md, "Report query".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Metric {
    /// A measure itself.
    Sum(Measure),
    /// Revenue per thousand impressions, in USD.
    Ecpm,
    /// Responses per request.
    FillRate,
    /// Impressions per response.
    ShowRate,
    /// Clicks per impression.
    ClickRate,
}

/// A metric as a quotient of sums, in millionths of its unit: `sum(numerator) × factor ÷ sum(denominator)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    /// The sum above the line.
    pub numerator: Measure,
    /// 1,000 for ecpm, since revenue is already in millionths. A million for rates, since counts are whole numbers.
    pub factor: i64,
    /// The sum below the line. If it is 0, the metric is 0.
    pub denominator: Measure,
}

impl Metric {
    /// Every metric, in the specification's order.
    pub const ALL: [Self; 9] = [
        Self::Sum(Measure::AdRequests),
        Self::Sum(Measure::AdResponses),
        Self::Sum(Measure::Impressions),
        Self::Sum(Measure::Clicks),
        Self::Sum(Measure::Revenue),
        Self::Ecpm,
        Self::FillRate,
        Self::ShowRate,
        Self::ClickRate,
    ];

    /// The metric's name in a request and in a row.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sum(measure) => measure.as_str(),
            Self::Ecpm => "ecpm",
            Self::FillRate => "fill_rate",
            Self::ShowRate => "show_rate",
            Self::ClickRate => "click_rate",
        }
    }

    /// The metric with this name in a request; `None` for any other text.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.as_str() == name)
    }

    /// The formula of docs/DECISIONS.md, "Reports"; `None` for a plain sum. It divides sums and never averages ratios.
    /// Revenue is already in micro-USD, so ecpm needs no factor of a million.
    pub fn ratio(self) -> Option<Ratio> {
        const MILLION: i64 = 1_000_000;
        let (numerator, factor, denominator) = match self {
            Self::Sum(_) => return None,
            Self::Ecpm => (Measure::Revenue, 1_000, Measure::Impressions),
            Self::FillRate => (Measure::AdResponses, MILLION, Measure::AdRequests),
            Self::ShowRate => (Measure::Impressions, MILLION, Measure::AdResponses),
            Self::ClickRate => (Measure::Clicks, MILLION, Measure::Impressions),
        };
        Some(Ratio { numerator, factor, denominator })
    }

    /// True if the metric can be counted by ad tag. Requests and responses cannot, because they happen before an ad tag
    /// is known.
    pub fn has_ad_tag(self) -> bool {
        let comes_before = |measure| matches!(measure, Measure::AdRequests | Measure::AdResponses);
        !self.measures().any(comes_before)
    }

    /// The measures that the metric needs.
    pub fn measures(self) -> impl Iterator<Item = Measure> {
        let (first, second) = match (self, self.ratio()) {
            (Self::Sum(measure), _) => (Some(measure), None),
            (_, Some(ratio)) => (Some(ratio.numerator), Some(ratio.denominator)),
            (_, None) => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// Orders two rows by this metric exactly: quotients are compared unrounded. A zero denominator gives 0.
    pub fn compare(self, left: &Sums, right: &Sums) -> Ordering {
        let Some(ratio) = self.ratio() else {
            return self
                .measures()
                .map(|measure| get(left, measure).cmp(&get(right, measure)))
                .next()
                .unwrap_or(Ordering::Equal);
        };
        let [(left_over, left_under), (right_over, right_under)] =
            [left, right].map(|sums| match get(sums, ratio.denominator) {
                0 => (0, 1),
                under => (get(sums, ratio.numerator), under),
            });
        // Denominators are counts, so they are not negative. A product of two i64 fits an i128.
        let cross = |over: i64, under: i64| i128::from(over) * i128::from(under);
        cross(left_over, right_under).cmp(&cross(right_over, left_under))
    }
}

/// The sum of one measure.
pub fn get(sums: &Sums, measure: Measure) -> i64 {
    sums.get(measure.index()).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_metrics_are_those_of_the_specification() {
        assert_eq!(
            Metric::ALL.map(Metric::as_str).join(" "),
            "ad_requests ad_responses impressions clicks revenue ecpm fill_rate show_rate click_rate"
        );
        for metric in Metric::ALL {
            assert_eq!(Metric::parse(metric.as_str()), Some(metric));
        }
        assert_eq!(Measure::ALL.map(Measure::index), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn quotients_are_compared_unrounded_and_a_zero_denominator_gives_zero() {
        let third = [0, 0, 3, 1, 0];
        let above = [0, 0, 3_000_000_000, 1_000_000_001, 0];
        let zero = [0, 0, 1, 0, 0];
        for (metric, left, right, ordering) in [
            (Metric::ClickRate, third, above, Ordering::Less),
            (Metric::ClickRate, [0, 0, 0, 9, 0], [0; 5], Ordering::Equal),
            (Metric::ClickRate, [0, 0, 0, 9, 0], zero, Ordering::Equal),
            (Metric::Ecpm, [0, 0, 1, 0, -1], [0, 0, 0, 0, 5], Ordering::Less),
        ] {
            assert_eq!(metric.compare(&left, &right), ordering, "{left:?} {right:?}");
        }
    }

    proptest! {
        #[test]
        fn comparing_by_a_metric_is_a_total_order(rows in prop::collection::vec(
            [0..5_i64, 0..5, 0..5, 0..5, -5..5_i64], 3)) {
            for metric in Metric::ALL {
                let [a, b, c] = [0, 1, 2].map(|at| rows[at]);
                prop_assert_eq!(metric.compare(&a, &b), metric.compare(&b, &a).reverse());
                if metric.compare(&a, &b).is_le() && metric.compare(&b, &c).is_le() {
                    prop_assert!(metric.compare(&a, &c).is_le());
                }
            }
        }
    }
}
