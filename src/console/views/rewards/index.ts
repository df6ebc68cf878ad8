export { Reward } from "./reward";
export { Rewards } from "./rewards";
