// The console's frame and its views.

import { Missing, Site } from "../pages/frame";
import { lazy } from "../pages/lazy";
import { AccountMenu } from "./components/account-menu";
import { frame as text } from "./messages";
import * as router from "./router";
import { type Route, route } from "./router";

const publishers = lazy(() => import("./views/publishers"));
const offers = lazy(() => import("./views/offers"));
const advertisers = lazy(() => import("./views/advertisers"));
const settings = lazy(() => import("./views/settings"));

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
    <Site links={links} menu={<AccountMenu />}>
      <View route={current} />
    </Site>
  );
}

function View({ route }: { route: Route }) {
  switch (route.view) {
    case "publishers":
      return <publishers.Lazy title={text.publishers} view={({ Publishers }) => <Publishers />} />;
    case "publisher": {
      const { publisherId } = route;
      return (
        <publishers.Lazy
          title={text.publishers}
          view={({ Publisher }) => <Publisher key={publisherId} publisherId={publisherId} />}
        />
      );
    }
    case "app": {
      const { appId } = route;
      return <publishers.Lazy title={text.publishers} view={({ App }) => <App key={appId} appId={appId} />} />;
    }
    case "offers":
      return <offers.Lazy title={text.offers} view={({ Offers }) => <Offers />} />;
    case "offer": {
      const { offerId } = route;
      return <offers.Lazy title={text.offers} view={({ Offer }) => <Offer key={offerId} offerId={offerId} />} />;
    }
    case "import":
      return <offers.Lazy title={text.offers} view={({ Import }) => <Import />} />;
    case "advertisers":
      return <advertisers.Lazy title={text.advertisers} view={({ Advertisers }) => <Advertisers />} />;
    case "advertiser": {
      const id = route.advertiserId;
      return (
        <advertisers.Lazy
          title={text.advertisers}
          view={({ Advertiser }) => <Advertiser key={id} advertiserId={id} />}
        />
      );
    }
    case "settings":
      return <settings.Lazy title={text.settings} view={({ Settings }) => <Settings section={route.section} />} />;
    default:
      return <Missing />;
  }
}
