// Filters of a report: one chip for each dimension, and a panel that searches its values on the server.

import { useId, useState } from "preact/hooks";
import { Options } from "../../../shared/components/field";
import { post } from "../../api";
import { Combobox } from "../../components/combobox";
import { Button, PrimaryButton } from "../../../shared/components/button";
import { ChevronDown, Cross, Plus } from "../../../shared/components/icons";
import { Popover } from "../../../shared/components/popover";
import { labelOf, rememberSuggestions } from "../../labels";
import { common, DIMENSION_NAMES, reports as text } from "../../messages";
import type { DateRange, Dimension, Filter } from "../../types";
import { adTagBlocked } from "./columns";
import { countriesNamed } from "./countries";
import { FILTER_DIMENSIONS, type ReportState } from "./state";

interface Props {
  state: ReportState;
  range: DateRange;
  onChange: (filters: Filter[]) => void;
}

export function Filters({ state, range, onChange }: Props) {
  const { filters } = state;
  const set = (dimension: Dimension, values: string[]) => {
    const others = filters.filter((filter) => filter.dimension !== dimension);
    onChange(values.length > 0 ? [...others, { dimension, values }] : others);
  };
  const free = FILTER_DIMENSIONS.filter((dimension) => !filters.some((filter) => filter.dimension === dimension));
  return (
    <>
      {filters.map(({ dimension, values }) => (
        <div class="filter-chip" key={dimension}>
          <Popover
            name={text.filterValues(DIMENSION_NAMES[dimension])}
            label={
              <>
                <span class="button-name">{DIMENSION_NAMES[dimension]}</span> {shortList(dimension, values)}{" "}
                <ChevronDown />
              </>
            }
          >
            {(close) => (
              <ValueEditor
                dimension={dimension}
                values={values}
                range={range}
                close={close}
                onApply={(next) => set(dimension, next)}
              />
            )}
          </Popover>
          <Button
            class="button icon-only"
            label={text.removeFilter(DIMENSION_NAMES[dimension])}
            onClick={() => set(dimension, [])}
          >
            <Cross />
          </Button>
        </div>
      ))}
      {free.length > 0 && (
        <Popover
          name={text.filter}
          label={
            <>
              <Plus /> {text.filter}
            </>
          }
        >
          {(close) => <NewFilter free={free} state={state} range={range} close={close} onApply={set} />}
        </Popover>
      )}
    </>
  );
}

function shortList(dimension: Dimension, values: string[]): string {
  const first = labelOf(dimension, values[0] ?? "");
  return values.length > 1 ? text.more(first, values.length - 1) : first;
}

interface NewFilterProps {
  free: Dimension[];
  state: ReportState;
  range: DateRange;
  close: () => void;
  onApply: (dimension: Dimension, values: string[]) => void;
}

function NewFilter({ free, state, range, close, onApply }: NewFilterProps) {
  const reasonId = useId();
  const [dimension, setDimension] = useState<Dimension>(free.includes("app") ? "app" : free[0]!);
  const blocked = adTagBlocked(state.metrics);
  return (
    <>
      <label class="field">
        <span>{text.filterDimension}</span>
        <select
          value={dimension}
          aria-describedby={blocked ? reasonId : undefined}
          onChange={(event) => setDimension(event.currentTarget.value as Dimension)}
        >
          <Options
            options={free}
            nameOf={(option) => DIMENSION_NAMES[option]}
            isDisabled={(option) => option === "ad_tag" && blocked !== undefined}
          />
        </select>
      </label>
      <ValueEditor
        key={dimension}
        dimension={dimension}
        values={[]}
        range={range}
        close={close}
        onApply={(values) => onApply(dimension, values)}
      />
      {blocked && free.includes("ad_tag") && (
        <p class="panel-note" id={reasonId}>
          {DIMENSION_NAMES.ad_tag}: {blocked}
        </p>
      )}
    </>
  );
}

interface EditorProps {
  dimension: Dimension;
  values: string[];
  range: DateRange;
  close: () => void;
  onApply: (values: string[]) => void;
}

/** Values are chosen first and applied together, so that only one report is requested. */
function ValueEditor({ dimension, values, range, close, onApply }: EditorProps) {
  const [chosen, setChosen] = useState(values);
  const suggest = async (typed: string) => {
    if (dimension === "country" && typed) return countriesNamed(typed, range);
    const answer = await post("/suggestions", {}, { dimension, text: typed, date_range: range });
    rememberSuggestions(dimension, answer.values);
    return answer.values;
  };
  return (
    <>
      <Combobox
        label={text.filterValues(DIMENSION_NAMES[dimension])}
        values={chosen}
        labelOf={(value) => labelOf(dimension, value)}
        suggest={suggest}
        onChange={setChosen}
      />
      <div class="panel-buttons">
        <Button onClick={close}>{common.cancel}</Button>
        <PrimaryButton
          onClick={() => {
            // Close the panel first, while the button that opened it is still there to take the focus.
            close();
            onApply(chosen);
          }}
        >
          {text.apply}
        </PrimaryButton>
      </div>
    </>
  );
}
