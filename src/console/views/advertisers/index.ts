// The views of advertisers, loaded when one of them is opened.

export { Advertiser } from "./advertiser";
export { Advertisers } from "./advertisers";
