// The views that are not in the first script.

export { App } from "./apps/app";
export { Apps } from "./apps/apps";
export { Changes } from "./changes/changes";
export { Day } from "./days/day";
export { Rewards } from "./rewards/rewards";
export { Offers } from "./apps/offers";
export { Reward } from "./rewards/reward";
export { Settings } from "./settings/settings";
