// The views that are not in the first script.

// The texts come first. Next to each other they compress better than between code, which saves 2 KB.
import "../messages/advertisers";
import "../messages/apps";
import "../messages/audit";
import "../messages/import";
import "../messages/offer-editor";
import "../messages/offers";
import "../messages/publishers";
import "../messages/reconcile";
import "../messages/rewards";
import "../messages/search";
import "../messages/service";
import "../messages/typed";

export { DecideBar, DecideMany } from "./attention/decide-many";
export { App } from "./publishers/app";
export { Publisher } from "./publishers/publisher";
export { Publishers } from "./publishers/publishers";
export { Import } from "./offers/import";
export { Offer } from "./offers/offer";
export { Offers } from "./offers/offers";
export { Advertiser } from "./advertisers/advertiser";
export { Advertisers } from "./advertisers/advertisers";
export { RefusedPostbacks } from "./advertisers/postbacks";
export { Reward } from "./rewards/reward";
export { Rewards } from "./rewards/rewards";
export { Search } from "./search/search";
export { Service } from "./service/service";
export { Settings } from "./settings/settings";
