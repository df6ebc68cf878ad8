// Client of the dashboard's API: one function per call.

import { accountApi } from "../shared/account-api";
import { BASE, call, get, id, ifMatch, patch, post, remove } from "../shared/client";
import type { ListPage } from "../shared/page-of";
import { queryText } from "../shared/query-text";
import { rememberNames } from "./labels";
import { FIRST } from "./site";
import type * as T from "./types";

export const api = {
  ...accountApi,
  overview: () => get<T.Overview>(BASE + FIRST),
  switchAccount: (publisher_id: string) => post(`${BASE}/switch`, { publisher_id }),

  reports: (queries: T.Query[]) => post<T.ReportBatch>(`${BASE}/reports`, { queries }).then(rememberNames),
  suggestions: (dimension: T.Dimension, text: string, date_range: T.DateRange) =>
    post<{ values: T.Suggestion[] }>(`${BASE}/suggestions`, { dimension, text, date_range }),
  createExport: (query: T.Query, format: T.ExportFormat) => post<T.ExportMade>(`${BASE}/exports`, { query, format }),
  exportUrl: (export_id: string) => `${BASE}/exports/${id(export_id)}`,

  /** Changes of final days, the newest first. */
  changes: (cursor: string | null) => get<T.DayChanges>(`${BASE}/changes${queryText({ cursor })}`),
  appDay: (app_id: string, date: string) => get<{ offers: T.AppDayOffer[] }>(`${BASE}/apps/${id(app_id)}/days/${date}`),
  payments: (app_id: string, date: string, offer: string, cursor: string | null) =>
    get<ListPage<T.Payment>>(`${BASE}/apps/${id(app_id)}/days/${date}/offers/${id(offer)}${queryText({ cursor })}`),

  apps: (cursor: string | null) => get<T.AppPage>(`${BASE}/apps${queryText({ cursor })}`),
  createApp: (app: T.NewApp, key: string) => post<T.App>(`${BASE}/apps`, app, { "Idempotency-Key": key }),
  app: (app_id: string) => get<T.App>(`${BASE}/apps/${app_id}`),
  /** Refused with 412 if the app has changed since `revision`. */
  changeApp: (app_id: string, revision: number, change: T.AppChange) =>
    patch<T.App>(`${BASE}/apps/${app_id}`, change, ifMatch(`"${revision}"`)),
  renewCallbackSecret: (app_id: string) => post<T.NewSecret>(`${BASE}/apps/${app_id}/callback/secret`),
  endPreviousSecret: (app_id: string) => remove(`${BASE}/apps/${app_id}/callback/previous_secret`),
  renewClickSecret: (app_id: string) => post<T.NewSecret>(`${BASE}/apps/${app_id}/click_secret`),
  endPreviousClickSecret: (app_id: string) => remove(`${BASE}/apps/${app_id}/previous_click_secret`),
  stopSigningClicks: (app_id: string) => remove(`${BASE}/apps/${app_id}/click_secret`),
  /** Enables the callback again after its receiver has disabled it. */
  enableCallback: (app_id: string) => post(`${BASE}/apps/${app_id}/callback/enable`),
  testCallback: (app_id: string, sign_with: T.SignWith) =>
    post<T.CallbackTest>(`${BASE}/apps/${app_id}/callback/test`, { sign_with }),
  previewCallback: (app_id: string, callback: T.CallbackDraft) =>
    post<T.CallbackPreview>(`${BASE}/apps/${app_id}/callback/preview`, { callback }),

  offers: (app_id: string, query: T.OfferQuery) => post<T.OfferPage>(`${BASE}/apps/${app_id}/offers`, query),
  trackingUrl: (app_id: string, parameters: T.TrackingParameters) =>
    post<T.TrackingUrl>(`${BASE}/apps/${app_id}/tracking_url`, parameters),

  activity: () => get<T.Activity>(`${BASE}/activity`),
  rewards: (query: T.RewardQuery) => post<T.RewardPage>(`${BASE}/rewards`, query),
  reward: (app_id: string, transaction_id: string) =>
    get<T.RewardStory>(`${BASE}/apps/${app_id}/rewards/${id(transaction_id)}`),
  replayReward: (app_id: string, transaction_id: string) =>
    post(`${BASE}/apps/${app_id}/rewards/${id(transaction_id)}/replay`),
  countReplay: (app_id: string, filter: T.RewardFilter) =>
    post<T.ReplayCount>(`${BASE}/apps/${app_id}/replays`, { filter, dry_run: true }),
  startReplay: (app_id: string, body: { filter: T.RewardFilter }, key: string) =>
    post<{ replay_id: string }>(`${BASE}/apps/${app_id}/replays`, body, { "Idempotency-Key": key }),
  replay: (app_id: string, replay_id: string) =>
    get<T.ReplayProgress>(`${BASE}/apps/${app_id}/replays/${id(replay_id)}`),
  pollMilliseconds: 2000,
  cancelReplay: (app_id: string, replay_id: string) => remove(`${BASE}/apps/${app_id}/replays/${id(replay_id)}`),

  /** One page of the data that is stored about a user in all apps. */
  exportUser: (user_id: string, cursor: string | null) => post<T.UserData>(`${BASE}/users/export`, { user_id, cursor }),
  /** Continues at the cursor of the previous answer. */
  eraseUser: (user_id: string, cursor: string | null) => post<T.ErasedUser>(`${BASE}/users/erase`, { user_id, cursor }),

  alarms: () => get<{ address: T.AlarmAddress | null }>(`${BASE}/alarms`),
  setAlarms: (url: string) => call<{ secret: string }>("PUT", `${BASE}/alarms`, { url }),
  endAlarms: () => remove(`${BASE}/alarms`),
  testAlarms: () => post<T.AlarmsTested>(`${BASE}/alarms/test`),

  reportKeys: () => get<T.ReportKeyList>(`${BASE}/report_keys`),
  createReportKey: (label: string, scope: T.KeyScope) => post<T.NewReportKey>(`${BASE}/report_keys`, { label, scope }),
  revokeReportKey: (key_id: string) => remove(`${BASE}/report_keys/${id(key_id)}`),
  pubKey: () => get<T.PubKey>(`${BASE}/pub_key`),
  pubKeyRequest: () => get<T.PubKeyRequested>(`${BASE}/pub_key/request`),
  requestPubKey: (reason: string) => post<T.PubKeyRequested>(`${BASE}/pub_key/request`, { reason }),
};
