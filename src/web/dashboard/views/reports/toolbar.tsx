// The question: dates, comparison, metrics, what to break down by, filters.

import { DateRangePicker } from "../../../shared/components/date-range";
import { Checkbox } from "../../../shared/components/field";
import { CheckboxMenu } from "../../components/checkbox-menu";
import { DIMENSION_NAMES, METRIC_HINTS, METRIC_NAMES, reports as text } from "../../messages";
import { DIMENSIONS, MAX_DAYS } from "../../report-facts";
import { adTagBlocked, metricBlocked, METRICS } from "./columns";
import { Filters } from "./filters";
import type { Days } from "./periods";
import { defaultOrder, type ReportState, resolveRange, usesAdTag } from "./state";

interface Props {
  state: ReportState;
  days: Days;
  onChange: (part: Partial<ReportState>) => void;
}

export function Toolbar({ state, days, onChange }: Props) {
  const range = resolveRange(state.range, days);
  const adTag = usesAdTag(state);
  return (
    <div class="toolbar" role="group" aria-label={text.title}>
      <DateRangePicker
        range={range}
        preset={typeof state.range === "string" ? state.range : null}
        days={days}
        mostDays={MAX_DAYS}
        onChange={(range, preset) => onChange({ range: preset ?? range })}
      />
      <Compare state={state} onChange={onChange} />
      <CheckboxMenu
        name={text.metrics}
        choices={METRICS.map((metric) => ({
          value: metric,
          label: METRIC_NAMES[metric],
          hint: metricBlocked(metric, adTag) ? text.adTagHint : METRIC_HINTS[metric],
          blocked: metricBlocked(metric, adTag),
        }))}
        chosen={state.metrics}
        onChange={(metrics) => onChange({ metrics })}
      />
      <CheckboxMenu
        name={text.dimensions}
        choices={DIMENSIONS.map((dimension) => ({
          value: dimension,
          label: DIMENSION_NAMES[dimension],
          blocked:
            dimension === "ad_tag" && !state.dimensions.includes("ad_tag") ? adTagBlocked(state.metrics) : undefined,
        }))}
        chosen={state.dimensions}
        onChange={(dimensions) => onChange({ dimensions, order: defaultOrder(dimensions, state.metrics) })}
      />
      <Filters state={state} range={range} onChange={(filters) => onChange({ filters })} />
    </div>
  );
}

function Compare({ state, onChange }: Pick<Props, "state" | "onChange">) {
  return (
    // A comparison changes no rows, so the table stays on its page.
    <Checkbox checked={state.compare} onChange={(compare) => onChange({ compare, page: state.page })}>
      <span>
        {text.compare} <span class="visually-hidden">{text.compareHint}</span>
      </span>
    </Checkbox>
  );
}
