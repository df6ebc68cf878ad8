// The console's frame and its views.

import { AccountMenu } from "../shared/account/menu";
import { linksTo, Missing, Site } from "../shared/frame";
import { lazy } from "../shared/lazy";
import { PAGES } from "./commands";
import { SearchBox } from "./components/search-box";
import { common, frame as text, ROLE_NAMES } from "./messages";
import { search as searchText } from "./messages/search";
import { type Route, route } from "./router";
import { session } from "./session";
import { Attention } from "./views/attention/attention";
import { OpenCount } from "./views/attention/list";

const { Lazy, loadViews } = lazy(() => import("./views/lazy-views"));

export function App() {
  const current = route.value;
  const member = session.value?.member;
  const link = linksTo<string>(current.view);
  const links = PAGES.map(({ name, path, views }) => link(path, name, ...views));
  links[0]!.beside = <OpenCount />;
  return (
    <Site
      links={links}
      onNear={loadViews}
      menu={
        <>
          <SearchBox />
          {member ? (
            <AccountMenu name={member.name} member={ROLE_NAMES[member.role]} />
          ) : (
            <span class="account-space" />
          )}
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
      const id = route.publisherId;
      return <Lazy title={text.publishers} view={({ Publisher }) => <Publisher key={id} publisherId={id} />} />;
    }
    case "app":
      return <Lazy title={text.publishers} view={({ App }) => <App key={route.appId} appId={route.appId} />} />;
    case "offers":
      return <Lazy title={text.offers} view={({ Offers }) => <Offers />} />;
    case "offer":
      return <Lazy title={text.offers} view={({ Offer }) => <Offer key={route.offerId} offerId={route.offerId} />} />;
    case "import":
      return <Lazy title={text.offers} view={({ Import }) => <Import />} />;
    case "advertisers":
      return <Lazy title={text.advertisers} view={({ Advertisers }) => <Advertisers />} />;
    case "advertiser": {
      const id = route.advertiserId;
      return <Lazy title={text.advertisers} view={({ Advertiser }) => <Advertiser key={id} advertiserId={id} />} />;
    }
    case "postbacks":
      return <Lazy title={text.refused} view={({ RefusedPostbacks }) => <RefusedPostbacks />} />;
    case "attention":
      return <Attention />;
    case "search":
      return <Lazy title={searchText.title} view={({ Search }) => <Search />} />;
    case "rewards":
      return <Lazy title={common.rewards} view={({ Rewards }) => <Rewards />} />;
    case "reward": {
      const { appId, transactionId } = route;
      const key = `${appId} ${transactionId}`;
      return <Lazy title={common.rewards} view={({ Reward }) => <Reward key={key} {...{ appId, transactionId }} />} />;
    }
    case "service":
      return <Lazy title={text.service} view={({ Service }) => <Service />} />;
    case "settings":
      return <Lazy title={common.settings} view={({ Settings }) => <Settings section={route.section} />} />;
    default:
      return <Missing />;
  }
}
