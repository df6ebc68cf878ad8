// The operator's calls for rewards.

import { get, id, post, remove } from "../../shared/client";
import { queryText } from "../../shared/query-text";
import type { ReplayCalls } from "../../shared/rewards/replay-many";
import { CATALOG_POLL_MILLISECONDS } from "../poll";
import type { ReplayCount, ReplayProgress } from "../types";
import type * as T from "../types/rewards";
import { ask, OPERATOR } from "./operator";

const app = (appId: string) => `${OPERATOR}/apps/${id(appId)}`;
const conversions = (appId: string) => `${app(appId)}/conversions`;
const conversion = (appId: string, transactionId: string) => `${conversions(appId)}/${id(transactionId)}`;

export const rewardsApi = {
  /** A user id is sent in the body, which no log contains. */
  list: (appId: string, query: T.EntryQuery, limit: number, cursor: string | null) =>
    query.user_id
      ? post<T.EntryPage>(conversions(appId), { ...query, limit, ...(cursor !== null && { cursor }) })
      : get<T.EntryPage>(conversions(appId) + queryText({ ...query, limit, cursor })),
  story: (appId: string, transactionId: string, isPoll: boolean) =>
    ask<T.OperatorStory>(`${conversion(appId, transactionId)}/story`, isPoll),
  replayOne: (appId: string, transactionId: string) => post(`${conversion(appId, transactionId)}/replay`),
  settle: (appId: string, transactionId: string, action: T.Settling, settlement: T.Settlement) =>
    post<{ duplicate: boolean }>(`${conversion(appId, transactionId)}/${action}`, settlement),
  settleMany: (appId: string, action: T.Settling, settlement: T.SettlementOfMany) =>
    post<T.SettledMany>(`${conversions(appId)}/${action}`, settlement),
  eraseUser: (appId: string, user_id: string) => post<T.Erased>(`${app(appId)}/erase_user`, { user_id }),
};

export const replayCalls: ReplayCalls = {
  countReplay: (appId, filter) => post<ReplayCount>(`${app(appId)}/replays`, { filter, dry_run: true }),
  startReplay: (appId, body, key) =>
    post<{ replay_id: string }>(`${app(appId)}/replays`, body, { "Idempotency-Key": key }),
  replay: (appId, replayId) => ask<ReplayProgress>(`${app(appId)}/replays/${id(replayId)}`, true),
  pollMilliseconds: CATALOG_POLL_MILLISECONDS,
  cancelReplay: (appId, replayId) => remove(`${app(appId)}/replays/${id(replayId)}`),
};
