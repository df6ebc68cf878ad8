// Types of a reward's story and of replays, which both sites show.

import type { Schemas } from "../api-types";

export type CallbackEvent = Schemas["OwnCallbackEvent"];
export type RewardState = Schemas["RewardState"];
export type RewardDelivery = Schemas["RewardDelivery"];
export type RewardKind = Schemas["RewardKind"];
/** An analyst's story has only some of the fields that other roles see. */
export type RewardCallback = Schemas["AnalystReward"]["callbacks"][number] & Partial<Schemas["CallbackStory"]>;
export type RewardStory = Omit<Schemas["AnalystReward"], "callbacks"> &
  Partial<Omit<Schemas["RewardStory"], "callbacks">> & { callbacks: RewardCallback[] };
export type CallbackTry = Schemas["CallbackStory"]["attempts"][number];
export type RewardFilter = Schemas["RewardFilter"];
export type ReplayCount = Schemas["ReplayCounted"];
export type ReplayProgress = Schemas["ReplayProgress"];
