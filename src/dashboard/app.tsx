// The frame of every view: header with navigation, the view, and the account menu.

import { useEffect } from "preact/hooks";
import { AccountMenu } from "./components/account-menu";
import { Confirm } from "./components/dialog";
import { Heading } from "./components/heading";
import { Mark } from "./components/icons";
import { Empty } from "./components/states";
import { Status } from "./components/status";
import { refresh } from "./cache";
import { common } from "./messages";
import { loadViews, Lazy } from "./lazy";
import {
  APPS_PATH,
  leaving,
  OVERVIEW_PATH,
  REPORTS_PATH,
  REWARDS_PATH,
  type Route,
  route,
  SETTINGS_PATH,
} from "./router";
import { generation, invite, isAdding, isSignedOut, OVERVIEW_KEY } from "./session";
import { Overview } from "./views/overview/overview";
import { Reports } from "./views/reports/reports";
import { Settings } from "./views/settings/settings";
import { SignIn } from "./views/sign-in";

// A page that was left open in the background is brought up to date when it is seen again.
const REFRESH_AFTER_MILLISECONDS = 60_000;

function useRefreshWhenSeen() {
  useEffect(() => {
    let hiddenAt = 0;
    const onChange = () => {
      if (document.hidden) hiddenAt = Date.now();
      else if (Date.now() - hiddenAt > REFRESH_AFTER_MILLISECONDS && !isSignedOut.peek()) void refresh(OVERVIEW_KEY);
    };
    document.addEventListener("visibilitychange", onChange);
    return () => document.removeEventListener("visibilitychange", onChange);
  }, []);
}

export function App() {
  useRefreshWhenSeen();
  const needsSignIn = isSignedOut.value || isAdding.value || invite.value !== null;
  return (
    <>
      {needsSignIn ? <SignIn /> : <Frame />}
      <Status />
    </>
  );
}

/** The address stays as it is: its fragment may be a view's. */
function skipToContent(event: Event) {
  event.preventDefault();
  document.getElementById("content")?.focus();
}

function Frame() {
  const current = route.value;
  const link = (href: string, name: string, ...views: Route["view"][]) => (
    <li>
      <a href={href} aria-current={views.includes(current.view) ? "page" : undefined}>
        {name}
      </a>
    </li>
  );
  return (
    <>
      <header class="top">
        <a class="skip" href="#content" onClick={skipToContent}>
          {common.skip}
        </a>
        <div class="top-row">
          <a class="brand" href={OVERVIEW_PATH}>
            <Mark /> {common.product}
          </a>
          <nav aria-label={common.navigation} onPointerOver={loadViews}>
            <ul>
              {link(OVERVIEW_PATH, common.overview, "overview")}
              {link(REPORTS_PATH, common.reports, "reports")}
              {link(APPS_PATH, common.apps, "apps", "app", "offers")}
              {link(REWARDS_PATH, common.rewards, "rewards", "reward")}
              {link(SETTINGS_PATH, common.settings, "settings")}
            </ul>
          </nav>
          <AccountMenu />
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        <View key={generation.value} route={current} />
      </main>
      {leaving.value && <LeaveQuestion leave={leaving.value} />}
    </>
  );
}

/** Asked before changes that are not saved are given up. */
function LeaveQuestion({ leave }: { leave: () => void }) {
  return (
    <Confirm
      title={common.leaveTitle}
      text={common.leaveText}
      button={common.leave}
      cancel={common.stay}
      dangerous
      onConfirm={async () => leave()}
      onClose={() => (leaving.value = null)}
    />
  );
}

function View({ route }: { route: Route }) {
  switch (route.view) {
    case "overview":
      return <Overview />;
    case "reports":
      return <Reports />;
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
      return <Settings section={route.section} />;
    case "missing":
      return (
        <>
          <Heading title={common.notFoundTitle} />
          <Empty
            title={common.notFound}
            action={
              <a class="button" href={OVERVIEW_PATH}>
                {common.toOverview}
              </a>
            }
          />
        </>
      );
  }
}
