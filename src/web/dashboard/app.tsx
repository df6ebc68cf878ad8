// The dashboard's frame and its views.

import { linksTo, Missing, Site } from "../shared/frame";
import { lazy } from "../shared/lazy";
import { AccountMenu } from "./components/account-menu";
import { common } from "./messages";
import { APPS_PATH, OVERVIEW_PATH, REPORTS_PATH, REWARDS_PATH, type Route, route, SETTINGS_PATH } from "./router";
import { Overview } from "./views/overview/overview";
import { Reports } from "./views/reports/reports";

const { Lazy, loadViews } = lazy(() => import("./views/lazy-views"));

export function App() {
  const current = route.value;
  const link = linksTo(current.view);
  const links = [
    link(OVERVIEW_PATH, common.overview, "overview"),
    link(REPORTS_PATH, common.reports, "reports", "day", "changes"),
    link(APPS_PATH, common.apps, "apps", "app", "offers"),
    link(REWARDS_PATH, common.rewards, "rewards", "reward"),
    link(SETTINGS_PATH, common.settings, "settings"),
  ];
  return (
    <Site links={links} menu={<AccountMenu />} onNear={loadViews}>
      <View route={current} />
    </Site>
  );
}

function View({ route }: { route: Route }) {
  switch (route.view) {
    case "overview":
      return <Overview />;
    case "reports":
      return <Reports />;
    case "day":
      return <Lazy title={common.reports} view={({ Day }) => <Day key={route.date} date={route.date} />} />;
    case "changes":
      return <Lazy title={common.reports} view={({ Changes }) => <Changes />} />;
    case "apps":
      return <Lazy title={common.apps} view={({ Apps }) => <Apps />} />;
    case "app":
      return <Lazy title={common.apps} view={({ App }) => <App key={route.appId} appId={route.appId} />} />;
    case "offers":
      return <Lazy title={common.apps} view={({ Offers }) => <Offers key={route.appId} appId={route.appId} />} />;
    case "rewards":
      return <Lazy title={common.rewards} view={({ Rewards }) => <Rewards />} />;
    case "reward": {
      const { appId, transactionId } = route;
      const key = `${appId} ${transactionId}`;
      return <Lazy title={common.rewards} view={({ Reward }) => <Reward key={key} {...{ appId, transactionId }} />} />;
    }
    case "settings":
      return <Lazy title={common.settings} view={({ Settings }) => <Settings section={route.section} />} />;
    case "missing":
      return <Missing />;
  }
}
