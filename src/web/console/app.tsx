// The console's frame and its views.

import { Missing, Site } from "../shared/frame";
import { lazy } from "../shared/lazy";
import { AccountMenu } from "./components/account-menu";
import { SearchBox } from "./components/search-box";
import { frame as text } from "./messages";
import { search as searchText } from "./messages/search";
import * as router from "./router";
import { type Route, route } from "./router";
import { Attention } from "./views/attention/attention";

const { Lazy, loadViews } = lazy(() => import("./views/lazy-views"));

export function App() {
  const current = route.value;
  const link = (href: string, name: string, ...views: Route["view"][]) => ({
    href,
    name,
    isCurrent: views.includes(current.view),
  });
  const links = [
    link(router.ATTENTION_PATH, text.attention, "attention"),
    link(router.PUBLISHERS_PATH, text.publishers, "publishers", "publisher", "app"),
    link(router.OFFERS_PATH, text.offers, "offers", "offer", "import"),
    link(router.ADVERTISERS_PATH, text.advertisers, "advertisers", "advertiser"),
    link(router.REWARDS_PATH, text.rewards, "rewards", "reward"),
    link(router.SERVICE_PATH, text.service, "service"),
    link(router.SETTINGS_PATH, text.settings, "settings"),
  ];
  return (
    <Site
      links={links}
      onNear={loadViews}
      menu={
        <>
          <SearchBox />
          <AccountMenu />
        </>
      }
    >
      <View route={current} />
    </Site>
  );
}

function View({ route }: { route: Route }) {
  switch (route.view) {
    case "publishers":
      return <Lazy title={text.publishers} view={({ Publishers }) => <Publishers />} />;
    case "publisher": {
      const { publisherId } = route;
      return (
        <Lazy
          title={text.publishers}
          view={({ Publisher }) => <Publisher key={publisherId} publisherId={publisherId} />}
        />
      );
    }
    case "app": {
      const { appId } = route;
      return <Lazy title={text.publishers} view={({ App }) => <App key={appId} appId={appId} />} />;
    }
    case "offers":
      return <Lazy title={text.offers} view={({ Offers }) => <Offers />} />;
    case "offer": {
      const { offerId } = route;
      return <Lazy title={text.offers} view={({ Offer }) => <Offer key={offerId} offerId={offerId} />} />;
    }
    case "import":
      return <Lazy title={text.offers} view={({ Import }) => <Import />} />;
    case "advertisers":
      return <Lazy title={text.advertisers} view={({ Advertisers }) => <Advertisers />} />;
    case "advertiser": {
      const id = route.advertiserId;
      return <Lazy title={text.advertisers} view={({ Advertiser }) => <Advertiser key={id} advertiserId={id} />} />;
    }
    case "attention":
      return <Attention />;
    case "search":
      return <Lazy title={searchText.title} view={({ Search }) => <Search />} />;
    case "rewards":
      return <Lazy title={text.rewards} view={({ Rewards }) => <Rewards />} />;
    case "reward": {
      const { appId, transactionId } = route;
      const key = `${appId} ${transactionId}`;
      return <Lazy title={text.rewards} view={({ Reward }) => <Reward key={key} {...{ appId, transactionId }} />} />;
    }
    case "service":
      return <Lazy title={text.service} view={({ Service }) => <Service />} />;
    case "settings":
      return <Lazy title={text.settings} view={({ Settings }) => <Settings section={route.section} />} />;
    default:
      return <Missing />;
  }
}
