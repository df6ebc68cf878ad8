//! The facts of reports in the pages equal those of the domain. This writes their file from the domain:
//!
//! ```text
//! RENEW=1 cargo test --workspace --test repository page_facts
//! ```
//!
//! The file is checked in, because writing it in each build would compile the domain for the host.

use std::{fmt::Write, fs};

use crate::{read, root};
use domain::reporting::{Dimension, Measure, Metric, dimension::OWN_DEMAND_SOURCE, query::MAX_SPAN_DAYS};

const FILE: &str = "src/web/dashboard/report-facts.ts";

/// The unit in which a page shows a metric.
fn unit(metric: Metric) -> &'static str {
    match metric {
        Metric::Sum(Measure::Revenue) | Metric::Ecpm => "money",
        Metric::Sum(_) => "count",
        Metric::FillRate | Metric::ShowRate | Metric::ClickRate => "ratio",
    }
}

fn list(names: impl Iterator<Item = &'static str>) -> String {
    let quoted: Vec<_> = names.map(|name| format!("\"{name}\"")).collect();
    quoted.join(", ")
}

fn facts() -> String {
    let mut text = String::from(
        "// Dimensions and metrics of reports. Written from src/domain/reporting by tests/repository/page_facts.rs.\n\n\
         import type { Unit } from \"../shared/format\";\n\
         import type { Dimension, Metric } from \"./types\";\n\n",
    );
    let dimensions = Dimension::ALL.into_iter().map(Dimension::as_str);
    let dimensions: Vec<_> = dimensions.map(|name| format!("  \"{name}\",\n")).collect();
    let _ = write!(text, "export const DIMENSIONS: readonly Dimension[] = [\n{}];\n\n", dimensions.concat());
    text.push_str("export const METRIC_UNITS: Record<Metric, Unit> = {\n");
    for metric in Metric::ALL {
        let _ = writeln!(text, "  {}: \"{}\",", metric.as_str(), unit(metric));
    }
    text.push_str("};\n\n// A rate without any of its divisor is unknown, which is not the same as 0.\n");
    text.push_str("export const DIVISORS: Partial<Record<Metric, Metric>> = {\n");
    for metric in Metric::ALL {
        if let Some(ratio) = metric.ratio() {
            let _ = writeln!(text, "  {}: \"{}\",", metric.as_str(), ratio.denominator.as_str());
        }
    }
    let without = Metric::ALL.into_iter().filter(|metric| !metric.has_ad_tag()).map(Metric::as_str);
    let _ = write!(
        text,
        "}};\n\n// Requests and responses are counted before an ad tag is known, so no number exists for the pair.\n\
         export const WITHOUT_AD_TAG: readonly Metric[] = [{}];\n\n\
         // The most days of a report.\n\
         export const MAX_DAYS = {};\n\n\
         // The demand source of the facts that Signpost counts itself.\n\
         export const OWN_DEMAND_SOURCE = \"{OWN_DEMAND_SOURCE}\";\n",
        list(without),
        MAX_SPAN_DAYS + 1
    );
    text
}

#[test]
fn the_pages_facts_of_reports_are_those_of_the_domain() {
    if std::env::var("RENEW").is_ok() {
        fs::write(root().join(FILE), facts()).unwrap();
    }
    assert_eq!(read(FILE), facts(), "RENEW=1 writes {FILE}");
}
