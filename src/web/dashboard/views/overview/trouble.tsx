// Warnings above the numbers: callbacks that do not arrive, and ad figures that are late.

import type { ComponentChildren } from "preact";
import { Warning } from "../../../shared/components/icons";
import { Name } from "../../../shared/components/name";
import { addDays, dateText, daysIn, startOf } from "../../../shared/format";
import { activity } from "../../messages/activity";
import { appPath, givenUpPath } from "../../router";
import { may } from "../../session";
import type { Activity, Overview } from "../../types";
import { useAppNames } from "../app-names";
import { type AppCallback, callbacksOf } from "../../../shared/rewards/activity";

const text = activity.trouble;
/** Maximum apps that a warning names. The list below the numbers names all of them. */
const SHOWN = 3;
/** Ad figures of a day are late at noon of the day after, in seconds after that day's start. */
const LATE_SECONDS = 36 * 3600;
/** After this many days nobody waits for the figures any longer; the alarms use the same limit. */
const LATE_DAYS = 30;

export function Trouble({ overview, data }: { overview: Overview; data: Activity | undefined }) {
  const { nameOf } = useAppNames();
  const apps = data ? callbacksOf(data).filter(isBroken) : [];
  const lines: [string, ComponentChildren][] = apps.slice(0, SHOWN).map((app) => [
    app.app_id,
    <>
      <Name>{nameOf(app.app_id)}</Name>: {text.states(app)} <Repair app={app} />
    </>,
  ]);
  if (apps.length > SHOWN) lines.push(["more", text.more(apps.length - SHOWN)]);
  if (isLate(overview)) lines.push(["late", text.late(dateText(overview.last_day))]);
  if (lines.length === 0) return null;
  return (
    <section class="banner warning" aria-label={text.title}>
      <Warning />
      <ul>
        {lines.map(([key, line]) => (
          <li key={key}>{line}</li>
        ))}
      </ul>
    </section>
  );
}

const isBroken = ({ state, dead }: AppCallback) => state === "disabled" || state === "failing" || dead > 0;

function Repair({ app: { app_id: id, state } }: { app: AppCallback }) {
  const isOff = state === "disabled" || state === "failing";
  if (isOff) return may("app_settings") && <a href={appPath(id)}>{text.repair}</a>;
  return <a href={givenUpPath(id)}>{text.see}</a>;
}

/** True if the day after the last complete one should be complete by now. */
const isLate = ({ last_day: last, today }: Overview) =>
  Date.now() / 1000 >= startOf(addDays(last, 1)) + LATE_SECONDS && daysIn(last, today) <= LATE_DAYS;
