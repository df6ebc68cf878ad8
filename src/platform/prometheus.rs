//! Prometheus' text format, version 0.0.4: each metric is announced once, and its series follow.

use std::fmt::{Display, Write};

/// What a scrape is answered.
#[derive(Default)]
pub struct MetricsText {
    text: String,
}

impl MetricsText {
    /// A metric, `signpost_{name}`, with its series: their labels, and their values. What is counted since the start ends
    /// in `_total` and is a counter; anything else is a gauge.
    pub fn metric<'l, const N: usize, V: Display>(
        &mut self,
        name: &str,
        help: &str,
        series: impl IntoIterator<Item = ([(&'l str, &'l str); N], V)>,
    ) {
        let kind = if name.ends_with("_total") {
            "counter"
        } else {
            "gauge"
        };
        // Writing to a String cannot fail.
        let _ = writeln!(
            self.text,
            "# HELP signpost_{name} {help}\n# TYPE signpost_{name} {kind}"
        );
        for (labels, value) in series {
            let _ = write!(self.text, "signpost_{name}");
            for (at, (label, text)) in labels.into_iter().enumerate() {
                let before = if at == 0 { '{' } else { ',' };
                let _ = write!(self.text, "{before}{label}=\"{}\"", escaped(text));
            }
            let end = if N == 0 { "" } else { "}" };
            let _ = writeln!(self.text, "{end} {value}");
        }
    }

    /// The same of one series without labels.
    pub fn value(&mut self, name: &str, help: &str, value: impl Display) {
        self.metric::<0, _>(name, help, [([], value)]);
    }

    pub fn text(self) -> String {
        self.text
    }
}

fn escaped(label: &str) -> String {
    label
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_written_as_prometheus_reads_them() {
        let mut exposition = MetricsText::default();
        exposition.value("held_bytes", "What is held.", 7);
        exposition.metric(
            "refused_total",
            "Refused.",
            [
                ([("route", "click"), ("code", "a\"b\\c\nd")], 1),
                ([("route", "offers"), ("code", "x")], 2),
            ],
        );
        assert_eq!(
            exposition.text(),
            "# HELP signpost_held_bytes What is held.\n# TYPE signpost_held_bytes gauge\nsignpost_held_bytes 7\n\
             # HELP signpost_refused_total Refused.\n# TYPE signpost_refused_total counter\n\
             signpost_refused_total{route=\"click\",code=\"a\\\"b\\\\c\\nd\"} 1\n\
             signpost_refused_total{route=\"offers\",code=\"x\"} 2\n"
        );
    }
}
