// The views that are no part of the first script.

export { App } from "./apps/app";
export { Apps } from "./apps/apps";
export { Rewards } from "./rewards/rewards";
export { Offers } from "./apps/offers";
export { Reward } from "./rewards/reward";
export { RemoveMember } from "./settings/remove-member";
