// A day from its figure down to its rows: the apps, the demand sources and offers of an app, and the rewards of an
// offer. Each level adds up to the one above it.

import { Fragment } from "preact";
import { useCached } from "../../../shared/cache";
import { Heading } from "../../../shared/components/heading";
import { Name } from "../../../shared/components/name";
import { dateWithWeekday } from "../../../shared/format";
import { search } from "../../../shared/navigation";
import { common } from "../../messages";
import { days as text } from "../../messages/days";
import { dayPath, REPORTS_PATH } from "../../router";
import { loadOverview, OVERVIEW_KEY } from "../../session";
import { useAppNames } from "../app-names";
import { AppOfDay } from "./app-of-day";
import { AppsOfDay } from "./apps-of-day";
import { Payments } from "./payments";

const APP_ID = /^\d{8}$/;

export function Day({ date }: { date: string }) {
  const { data: overview } = useCached(OVERVIEW_KEY, loadOverview);
  const { nameOf } = useAppNames();
  const query = new URLSearchParams(search.value);
  const asked = query.get("app") ?? "";
  const app = APP_ID.test(asked) ? asked : null;
  const offer = app && query.get("offer");
  const day = dateWithWeekday(date);
  const levels: Level[] = [{ name: common.reports, path: REPORTS_PATH }];
  if (app) levels.push({ name: day, path: dayPath(date) });
  if (app && offer) levels.push({ name: nameOf(app), path: dayPath(date, app) });
  const title = offer ? `${text.offer} ${offer}` : app ? nameOf(app) : day;
  const isFinal = overview?.final_through ? date <= overview.final_through : false;
  return (
    <>
      <Heading
        title={title}
        within={[...levels.slice(1).map(({ name }) => name), ...(overview ? [overview.publisher.name] : [])]}
        note={
          <>
            <Trail levels={levels} />
            <br />
            {overview && (isFinal ? text.isFinal : text.isOpen)}
          </>
        }
      />
      {/* A POST must name the account, which is unknown until the first answer. */}
      {overview &&
        (app && offer ? (
          <Payments key={`${app} ${offer}`} {...{ date, app, offer }} />
        ) : app ? (
          <AppOfDay key={app} {...{ date, app }} />
        ) : (
          <AppsOfDay date={date} />
        ))}
    </>
  );
}

interface Level {
  name: string;
  path: string;
}

/** The levels above, as links. */
const Trail = ({ levels }: { levels: Level[] }) => (
  <span role="navigation" aria-label={text.trail}>
    {levels.map(({ name, path }, index) => (
      <Fragment key={path}>
        {index > 0 && " › "}
        <a href={path}>
          <Name>{name}</Name>
        </a>
      </Fragment>
    ))}
  </span>
);
