// A chart by day: axes, legend, a cursor for pointer and keyboard, and the same numbers as a table.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { axisValue, dateRangeText, dateWithWeekday, formatUnit, shortDate } from "../../../shared/format";
import { chart as text } from "../../messages";
import { Bars } from "./bar";
import { Lines } from "./line";
import { axisSteps, labelledDates } from "./scale";
import { Tooltip } from "./tooltip";
import { type ChartData, type Geometry, type Series, seriesClass } from "./types";

const HEIGHT = 240;
const TOP = 12;
const BOTTOM = HEIGHT - 26;
const AXIS_TEXT = 7;

interface Props {
  data: ChartData;
  kind: "line" | "bar";
}

export function Chart({ data, kind }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [cursor, setCursor] = useState<number | null>(null);
  const [spoken, setSpoken] = useState("");

  useLayoutEffect(() => {
    const element = frame.current!;
    const measure = () => setWidth(element.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const { dates, series, unit, today } = data;
  const largest = Math.max(0, ...series.flatMap((one) => one.values.map((value) => value ?? 0)));
  const steps = axisSteps(largest, unit);
  const top = steps[steps.length - 1]!;
  const axisTexts = steps.map((step) => axisValue(unit, step));
  const left = Math.max(...axisTexts.map((label) => label.length)) * AXIS_TEXT + 10;
  const right = Math.max(width - (kind === "bar" ? 14 : 5), left + 1);
  const slot = (right - left) / Math.max(1, kind === "bar" ? dates.length : dates.length - 1);
  const geometry: Geometry = {
    x: (index) =>
      kind === "bar" ? left + slot * (index + 0.5) : dates.length === 1 ? (left + right) / 2 : left + slot * index,
    y: (value) => BOTTOM - (value / top) * (BOTTOM - TOP),
    slot,
    bottom: BOTTOM,
  };

  const last = dates.length - 1;
  const current = cursor === null ? null : Math.min(cursor, last);

  const speak = (index: number) => {
    const values = series.map(
      (one) => `${series.length > 1 ? `${one.label} ` : ""}${valueText(one.values[index] ?? null, data)}`,
    );
    const day = dateWithWeekday(dates[index]!);
    setSpoken(text.points([day, ...values, ...(index === today ? [text.incomplete] : [])]));
  };
  const moveTo = (index: number) => {
    setCursor(index);
    speak(index);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const at = current ?? last;
    if (event.key === "ArrowLeft") moveTo(current === null ? last : Math.max(0, at - 1));
    else if (event.key === "ArrowRight") moveTo(current === null ? 0 : Math.min(last, at + 1));
    else if (event.key === "Home") moveTo(0);
    else if (event.key === "End") moveTo(last);
    else if (event.key === "Escape" && current !== null) setCursor(null);
    else return;
    event.preventDefault();
  };
  const onPointer = (event: PointerEvent) => {
    const offset = event.clientX - frame.current!.getBoundingClientRect().left;
    const index = Math.round((offset - left) / slot - (kind === "bar" ? 0.5 : 0));
    setCursor(Math.max(0, Math.min(last, index)));
  };

  return (
    <figure class="chart">
      {series.length > 1 && <Legend data={data} kind={kind} />}
      <div
        class="chart-frame"
        ref={frame}
        tabIndex={0}
        role="application"
        aria-roledescription={text.role}
        aria-label={`${text.label(data.title, dates[0]!, dates[last]!)}. ${text.help}`}
        onKeyDown={onKeyDown}
        onBlur={() => setCursor(null)}
        onPointerMove={onPointer}
        onPointerDown={onPointer}
        onPointerLeave={(event) => event.pointerType === "mouse" && setCursor(null)}
      >
        {width > 0 && (
          <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} aria-hidden="true" focusable="false">
            <g class="grid">
              {steps.map((step, index) => (
                <g key={step}>
                  <line x1={left} x2={right} y1={geometry.y(step)} y2={geometry.y(step)} />
                  <text x={left - 8} y={geometry.y(step)} dy="0.32em" text-anchor="end">
                    {axisTexts[index]}
                  </text>
                </g>
              ))}
              {labelledDates(dates.length, right - left, width > 600 ? 88 : 64).map((index) => (
                <text key={index} x={geometry.x(index)} y={HEIGHT - 7} text-anchor={anchor(index, last, kind)}>
                  {shortDate(dates[index]!)}
                </text>
              ))}
            </g>
            {current !== null && (
              <line class="cursor" x1={geometry.x(current)} x2={geometry.x(current)} y1={TOP} y2={BOTTOM} />
            )}
            {kind === "bar" ? <Bars data={data} geometry={geometry} /> : <Lines data={data} geometry={geometry} />}
            {current !== null &&
              kind === "line" &&
              series.map((one, index) => {
                const value = one.values[current] ?? null;
                return value === null ? null : (
                  <g key={one.id} class={seriesClass(one, index)}>
                    <circle class="dot" cx={geometry.x(current)} cy={geometry.y(value)} r="4" />
                  </g>
                );
              })}
          </svg>
        )}
        {current !== null && width > 0 && (
          <Tooltip data={data} index={current} x={geometry.x(current)} width={width} kind={kind} />
        )}
      </div>
      <p class="visually-hidden" aria-live="polite">
        {spoken}
      </p>
    </figure>
  );
}

const anchor = (index: number, last: number, kind: "line" | "bar") =>
  kind === "bar" || last === 0 ? "middle" : index === 0 ? "start" : index === last ? "end" : "middle";

export const valueText = (value: number | null, { unit }: ChartData) =>
  value === null ? text.noValue : formatUnit(unit, value);

function Legend({ data, kind }: { data: ChartData; kind: "line" | "bar" }) {
  return (
    <ul class="legend">
      {data.series.map((one, index) => (
        <li key={one.id}>
          <Swatch name={seriesClass(one, index)} isBar={kind === "bar"} isBefore={one.isBefore} /> {one.label}
          <span class="legend-dates">{legendDates(one, data)}</span>
        </li>
      ))}
    </ul>
  );
}

/** The dates of a series, if the chart has more than one period. */
function legendDates(one: Series, { dates, series }: ChartData): string | null {
  if (!series.some(({ isBefore }) => isBefore)) return null;
  const own = one.dates ?? dates;
  const last = one.values.findLastIndex((value) => value !== null);
  return dateRangeText(own[0]!, own[Math.max(0, last)]!);
}

/** A series' line or bar as it is drawn in the chart. */
export function Swatch({ name, isBar, isBefore }: { name: string; isBar: boolean; isBefore?: boolean }) {
  return (
    <svg class="swatch" width="24" height="10" viewBox="0 0 24 10" aria-hidden="true" focusable="false">
      <g class={isBar ? "bars" : "lines"}>
        <g class={name}>
          {!isBar ? (
            <polyline points="1,5 23,5" />
          ) : isBefore ? (
            <line x1="5" x2="19" y1="5" y2="5" />
          ) : (
            <rect x="7" y="0" width="10" height="10" rx="2" />
          )}
        </g>
      </g>
    </svg>
  );
}
