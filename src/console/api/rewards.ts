// The operator's calls for rewards.

import { call, get, id, post, remove } from "../../pages/client";
import type { ReplayCalls } from "../../pages/rewards/replay-many";
import type { ReplayCount, ReplayProgress } from "../types";
import type * as T from "../types/rewards";
import { OPERATOR, pageQuery } from "./operator";

const POLL = { "X-Poll": "1" };

const app = (appId: string) => `${OPERATOR}/apps/${id(appId)}`;
const conversions = (appId: string) => `${app(appId)}/conversions`;
const conversion = (appId: string, transactionId: string) => `${conversions(appId)}/${id(transactionId)}`;

export const rewardsApi = {
  list: (appId: string, query: T.EntryQuery, limit: number, cursor: string | null) =>
    get<T.EntryPage>(`${conversions(appId)}${pageQuery({ ...query, limit, cursor })}`),
  story: (appId: string, transactionId: string, isPoll: boolean) =>
    call<T.OperatorStory>("GET", `${conversion(appId, transactionId)}/story`, undefined, isPoll ? POLL : undefined),
  replayOne: (appId: string, transactionId: string) => post(`${conversion(appId, transactionId)}/replay`),
  settle: (appId: string, transactionId: string, action: T.Settling, settlement: T.Settlement) =>
    post(`${conversion(appId, transactionId)}/${action}`, settlement),
  settleMany: (appId: string, action: T.Settling, settlement: T.SettlementOfMany) =>
    post<T.SettledMany>(`${conversions(appId)}/${action}`, settlement),
  eraseUser: (appId: string, userId: string) => call<T.Erased>("DELETE", `${app(appId)}/users/${id(userId)}`, {}),
  /** The first ones, to choose from. */
  apps: () => get<{ apps: T.ListedApp[]; cursor: string | null }>(`${OPERATOR}/apps?limit=100`),
  app: (appId: string) => get<T.ListedApp>(app(appId)),
};

export const replayCalls: ReplayCalls = {
  countReplay: (appId, question) => post<ReplayCount>(`${app(appId)}/replays`, { ...question, dry_run: true }),
  startReplay: (appId, body, key) =>
    post<{ replay_id: string }>(`${app(appId)}/replays`, body, { "Idempotency-Key": key }),
  replay: (appId, replayId) => get<ReplayProgress>(`${app(appId)}/replays/${id(replayId)}`),
  cancelReplay: (appId, replayId) => remove(`${app(appId)}/replays/${id(replayId)}`),
};
