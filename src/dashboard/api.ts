// Client of the dashboard's API: one function per call, typed results, one error type.

import type * as T from "./types";

const BASE = "/v1/dashboard";
const OVERVIEW = "/overview";

// A 429 or 503 is repeated once by itself when it asks for no more than this; a longer wait is left to the person.
const LONGEST_WAIT_SECONDS = 10;

export class ApiError extends Error {
  constructor(
    /** HTTP status; 0 when no answer arrived. */
    readonly status: number,
    readonly code: string,
    message: string,
    readonly requestId: string | null,
    readonly retryAfter: number | null,
    /** The operator's support, where the answer names it. */
    readonly help: string | null = null,
  ) {
    super(message);
  }
}

let signedOutListener = () => {};

/** Called when an answer says that the session is gone. */
export function onSignedOut(listener: () => void) {
  signedOutListener = listener;
}

let switchedListener = () => {};

/** Called when an answer says that the browser has changed to another account than the page shows. */
export function onSwitched(listener: () => void) {
  switchedListener = listener;
}

/** `isShown`: it is the account of the session, rather than one that an invite or a passkey named. */
type SuspendedListener = (contact: string | null, isShown: boolean) => void;

let suspendedListener: SuspendedListener = () => {};

/** Called when an answer says that an account is suspended. */
export function onSuspended(listener: SuspendedListener) {
  suspendedListener = listener;
}

let shownPublisher: string | null = null;

/** Each call names the publisher that the page shows, so that none lands in an account that another tab has changed to. */
export function showPublisher(publisherId: string | null) {
  shownPublisher = publisherId;
}

function retryAfterSeconds(response: Response): number | null {
  const seconds = Number(response.headers.get("Retry-After") ?? NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null;
}

async function errorOf(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => ({}))) as Partial<T.Refusal>;
  return new ApiError(
    response.status,
    body.code ?? "unknown",
    body.error ?? "",
    response.headers.get("X-Request-Id"),
    retryAfterSeconds(response),
    /^<([^>]+)>; rel="help"$/.exec(response.headers.get("Link") ?? "")?.[1] ?? null,
  );
}

type Headers = Record<string, string>;

async function send(method: string, path: string, body?: object, extra: Headers = {}): Promise<Response> {
  const headers: Headers = { ...extra };
  // The overview tells the publisher, and the shell's preload of it has no headers of its own.
  if (shownPublisher !== null && path !== OVERVIEW) headers["X-Publisher"] = shownPublisher;
  if (body) headers["Content-Type"] = "application/json";
  try {
    return await fetch(BASE + path, { method, headers, body: body && JSON.stringify(body) });
  } catch {
    throw new ApiError(0, "network", "", null, null);
  }
}

async function call<Result>(method: string, path: string, body?: object, extra?: Headers): Promise<Result> {
  let response = await send(method, path, body, extra);
  // A write that was not answered may have been carried out, so only what reads is sent again after a 503.
  const mayRepeat = response.status === 429 || (response.status === 503 && isRead(method, path));
  if (mayRepeat) {
    const wait = retryAfterSeconds(response);
    if (wait !== null && wait <= LONGEST_WAIT_SECONDS) {
      await new Promise((resolve) => setTimeout(resolve, wait * 1000));
      response = await send(method, path, body, extra);
    }
  }
  if (response.ok) {
    if (response.status === 204) return undefined as Result;
    try {
      return (await response.json()) as Result;
    } catch {
      throw new ApiError(response.status, "unreadable", "", response.headers.get("X-Request-Id"), null);
    }
  }
  const error = await errorOf(response);
  if (error.code === "not_signed_in") signedOutListener();
  if (error.code === "account_switched") switchedListener();
  if (error.code === "account_suspended") suspendedListener(error.help, isOfSession(method, path));
  throw error;
}

// Others name an account by an invite or a passkey.
const isOfSession = (method: string, path: string) =>
  method === "GET" || !/^\/(invite|sign_in.*|passkeys(\/(creation|request))?)$/.test(path);

const READS = /^\/(reports|suggestions|rewards|apps\/\d+\/(offers|callback\/preview))$/;
const isRead = (method: string, path: string) => method === "GET" || READS.test(path);

const get = <Result>(path: string) => call<Result>("GET", path);
const post = <Result = void>(path: string, body: object = {}, extra?: Headers) => call<Result>("POST", path, body, extra);
// Writes are refused without this content type, and a body carries it.
const patch = <Result = void>(path: string, body: object, extra?: Headers) => call<Result>("PATCH", path, body, extra);
const remove = (path: string) => call<void>("DELETE", path, {});
const id = encodeURIComponent;

interface Options<Json> {
  options: Json;
}

export const api = {
  overview: () => get<T.Overview>(OVERVIEW),
  switchAccount: (publisher_id: string) => post("/switch", { publisher_id }),

  invite: (invite: string) => post<T.Invite>("/invite", { invite }),
  signIn: (invite: string) => post("/sign_in", { invite }),
  signOut: () => post("/sign_out"),
  creationOptions: (invite: string) =>
    post<Options<PublicKeyCredentialCreationOptionsJSON>>("/passkeys/creation", { invite }),
  storePasskey: (invite: string, credential: object) => post("/passkeys", { invite, credential }),
  requestOptions: () => post<Options<PublicKeyCredentialRequestOptionsJSON>>("/passkeys/request"),
  signInWithPasskey: (credential: object) => post("/sign_in/passkey", { credential }),
  passkeys: () => get<{ passkeys: T.Passkey[] }>("/passkeys"),
  additionOptions: () => post<Options<PublicKeyCredentialCreationOptionsJSON>>("/passkeys/another/creation"),
  addPasskey: (credential: object) => post("/passkeys/another", { credential }),
  removePasskey: (passkey_id: string) => remove(`/passkeys/${id(passkey_id)}`),
  verifyOptions: () => post<Options<PublicKeyCredentialRequestOptionsJSON>>("/verify/request"),
  verify: (credential: object) => post("/verify", { credential }),

  reports: (queries: T.Query[]) => post<T.ReportBatch>("/reports", { queries }),
  suggestions: (dimension: T.Dimension, text: string, date_range: T.DateRange) =>
    post<{ values: T.Suggestion[] }>("/suggestions", { dimension, text, date_range }),
  createExport: (query: T.Query, format: T.ExportFormat) => post<T.ExportMade>("/exports", { query, format }),
  exportUrl: (export_id: string) => `${BASE}/exports/${id(export_id)}`,

  apps: (cursor: string | null) => get<T.AppPage>(`/apps${cursor ? `?cursor=${id(cursor)}` : ""}`),
  createApp: (app: T.NewApp, key: string) => post<T.App>("/apps", app, { "Idempotency-Key": key }),
  app: (app_id: string) => get<T.App>(`/apps/${app_id}`),
  /** Refused with 412 when the app is not the one of `revision` any more. */
  changeApp: (app_id: string, revision: number, change: T.AppChange) =>
    patch<T.ChangedApp>(`/apps/${app_id}`, change, { "If-Match": `"${revision}"` }),
  renewCallbackSecret: (app_id: string) => post<T.NewSecret>(`/apps/${app_id}/callback/secret`),
  endPreviousSecret: (app_id: string) => remove(`/apps/${app_id}/callback/previous_secret`),
  renewClickSecret: (app_id: string) => post<T.NewSecret>(`/apps/${app_id}/click_secret`),
  endPreviousClickSecret: (app_id: string) => remove(`/apps/${app_id}/previous_click_secret`),
  stopSigningClicks: (app_id: string) => remove(`/apps/${app_id}/click_secret`),
  /** After its receiver has switched it off. */
  enableCallback: (app_id: string) => post(`/apps/${app_id}/callback/enable`),
  testCallback: (app_id: string, sign_with: T.SignWith) =>
    post<T.CallbackTest>(`/apps/${app_id}/callback/test`, { sign_with }),
  previewCallback: (app_id: string, callback: T.CallbackDraft) =>
    post<T.CallbackPreview>(`/apps/${app_id}/callback/preview`, { callback }),

  offers: (app_id: string, query: T.OfferQuery) => post<T.OfferPage>(`/apps/${app_id}/offers`, query),
  trackingUrl: (app_id: string, parameters: T.TrackingParameters) =>
    post<T.TrackingUrl>(`/apps/${app_id}/tracking_url`, parameters),

  activity: () => get<T.Activity>("/activity"),
  rewards: (query: T.RewardQuery) => post<T.RewardPage>("/rewards", query),
  reward: (app_id: string, transaction_id: string) =>
    get<T.RewardStory>(`/apps/${app_id}/rewards/${id(transaction_id)}`),
  replayReward: (app_id: string, transaction_id: string) =>
    post(`/apps/${app_id}/rewards/${id(transaction_id)}/replay`),
  countReplay: (app_id: string, question: T.ReplayQuestion) =>
    post<T.ReplayCount>(`/apps/${app_id}/replays`, { ...question, dry_run: true }),
  startReplay: (app_id: string, body: { filter: T.ReplayFilter; until: number }, key: string) =>
    post<{ replay_id: string }>(`/apps/${app_id}/replays`, body, { "Idempotency-Key": key }),
  replay: (app_id: string, replay_id: string) => get<T.ReplayProgress>(`/apps/${app_id}/replays/${id(replay_id)}`),
  cancelReplay: (app_id: string, replay_id: string) => remove(`/apps/${app_id}/replays/${id(replay_id)}`),

  reportKeys: () => get<{ report_keys: T.ReportKey[] }>("/report_keys"),
  createReportKey: (label: string) => post<T.NewReportKey>("/report_keys", { label }),
  revokeReportKey: (key_id: string) => remove(`/report_keys/${id(key_id)}`),
  pubKey: () => get<T.PubKey>("/pub_key"),
  pubKeyRequest: () => get<T.PubKeyRequested>("/pub_key/request"),
  requestPubKey: (reason: string) => post<T.PubKeyRequested>("/pub_key/request", { reason }),
  members: () => get<T.Members>("/members"),
  createInvite: (name: string, role: T.Role) => post<T.NewInvite>("/invites", { name, role }),
  withdrawInvite: (invite_id: string) => remove(`/invites/${id(invite_id)}`),
  changeRole: (member_id: string, role: T.Role) => patch(`/members/${id(member_id)}`, { role }),
  removeMember: (member_id: string) => remove(`/members/${id(member_id)}`),
  recoverMember: (member_id: string) => post<T.NewInvite>(`/members/${id(member_id)}/recovery`),
  sessions: () => get<{ sessions: T.Session[] }>("/sessions"),
  endSession: (session_id: string) => remove(`/sessions/${id(session_id)}`),
  audit: (cursor: string | null) => get<T.AuditPage>(`/audit?limit=50${cursor ? `&cursor=${id(cursor)}` : ""}`),
};
