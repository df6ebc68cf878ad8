//! Prometheus' text format, version 0.0.4: each metric has one header, which its series follow.

use std::fmt::{Display, Write};

#[derive(Default)]
pub struct MetricsText {
    text: String,
}

impl MetricsText {
    /// Adds the metric `signpost_{name}` and its series, each with its labels and value. A name that ends in `_total`
    /// is a counter since the start; any other is a gauge.
    pub fn metric<'l, const N: usize, V: Display>(
        &mut self,
        name: &str,
        help: &str,
        series: impl IntoIterator<Item = ([(&'l str, &'l str); N], V)>,
    ) {
        self.header(name, help);
        for (labels, value) in series {
            self.series(name, &labels, &value);
        }
    }

    fn header(&mut self, name: &str, help: &str) {
        let kind = if name.ends_with("_total") { "counter" } else { "gauge" };
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "# HELP signpost_{name} {help}\n# TYPE signpost_{name} {kind}");
    }

    // Not generic, because every metric would add a copy to the edge's module.
    #[inline(never)]
    fn series(&mut self, name: &str, labels: &[(&str, &str)], value: &dyn Display) {
        let _ = write!(self.text, "signpost_{name}");
        for (at, (label, text)) in labels.iter().enumerate() {
            let before = if at == 0 { '{' } else { ',' };
            let _ = write!(self.text, "{before}{label}=\"{}\"", escaped(text));
        }
        let end = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.text, "{end} {value}");
    }

    /// Adds a metric with one series without labels.
    pub fn value(&mut self, name: &str, help: &str, value: impl Display) {
        self.metric::<0, _>(name, help, [([], value)]);
    }

    pub fn text(self) -> String {
        self.text
    }
}

fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_written_in_prometheus_text_format() {
        let mut metrics = MetricsText::default();
        metrics.value("used_bytes", "Memory in use.", 7);
        metrics.metric(
            "refused_total",
            "Refused.",
            [([("route", "click"), ("code", "a\"b\\c\nd")], 1), ([("route", "offers"), ("code", "x")], 2)],
        );
        assert_eq!(
            metrics.text(),
            "# HELP signpost_used_bytes Memory in use.\n# TYPE signpost_used_bytes gauge\nsignpost_used_bytes 7\n\
             # HELP signpost_refused_total Refused.\n# TYPE signpost_refused_total counter\n\
             signpost_refused_total{route=\"click\",code=\"a\\\"b\\\\c\\nd\"} 1\n\
             signpost_refused_total{route=\"offers\",code=\"x\"} 2\n"
        );
    }
}
