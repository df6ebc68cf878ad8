export {
  type CallbackStore,
  Callbacks,
  type CallbacksOptions,
  MemoryStore,
  type PlainRequest,
  type Received,
} from "./callbacks.js";
export { type Click, clickUrl, signClick, signedClickUrl } from "./clicks.js";
export { type ConversionReport, Conversions, type ConversionsOptions } from "./conversions.js";
export * from "./errors.js";
export type { FeedQuery } from "./feed.js";
export type * from "./generated/types.js";
export { micros } from "./money.js";
export { type ListedPage, Offers, type OffersOptions, type OffersQuery } from "./offers.js";
export { type ReportPage, Reports, type ReportsOptions } from "./reports.js";
export { Rewards, type RewardsOptions, type RewardsQuery } from "./rewards.js";
export { type CallbackHeaders, type VerifyOptions, verifyCallback, verifyCallbackQuery } from "./signatures.js";
export type { CallOptions, Options } from "./transport.js";
export { VERSION } from "./version.js";
