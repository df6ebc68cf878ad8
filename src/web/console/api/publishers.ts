// Calls about publishers: their state, people, keys and facts.

import { call, get, getTagged, id, post, putTagged, remove, type Tagged } from "../../shared/client";
import { queryText } from "../../shared/query-text";
import type {
  Activity,
  AuditPage,
  KeyScope,
  Members,
  NewInvite,
  NewReportKey,
  ReportKeyList,
  Role,
} from "../../shared/types";
import type * as T from "../types/publishers";
import { OPERATOR } from "./operator";

const of = (publisherId: string) => `${OPERATOR}/publishers/${id(publisherId)}`;

export const publishersApi = {
  list: (limit: number, cursor: string | null, isWaiting: boolean, sort = "") =>
    get<T.PublisherPage>(
      `${OPERATOR}/publishers${queryText({ approved: isWaiting ? "false" : "", sort, limit, cursor })}`,
    ),
  read: (publisherId: string) => getTagged<T.Publisher>(of(publisherId)),
  /** Refused with 412 if a publisher with this id exists. */
  create: (publisherId: string, publisher: T.PublisherDocument) =>
    putTagged<T.Publisher>(of(publisherId), publisher, null),
  /** Refused with 412 if the publisher has changed since it was read. */
  change: (seen: Tagged<T.Publisher>, change: Partial<T.PublisherDocument>) => {
    const { publisher_id, ...document } = seen;
    return putTagged<T.Publisher>(of(publisher_id), { ...document, ...change }, seen);
  },
  figuresOf: (publisher_ids: string[]) =>
    post<{ figures: Record<string, T.PublisherFigures> }>(`${OPERATOR}/publisher_figures`, { publisher_ids }),
  requests: () => get<{ requests: (T.PubKeyRequest & { publisher_id: string })[] }>(`${OPERATOR}/pub_key_requests`),
  activity: (publisherId: string) => get<Activity>(`${of(publisherId)}/activity`),

  people: (publisherId: string) => get<Members>(`${of(publisherId)}/members`),
  invite: (publisherId: string, name: string, role: Role) =>
    post<NewInvite>(`${of(publisherId)}/invites`, { name, role }),
  recover: (publisherId: string, memberId: string) =>
    post<NewInvite>(`${of(publisherId)}/members/${id(memberId)}/recovery`),
  withdraw: (publisherId: string, inviteId: string) => remove(`${of(publisherId)}/invites/${id(inviteId)}`),

  audit: (publisherId: string, cursor: string | null) =>
    get<AuditPage>(`${of(publisherId)}/audit${queryText({ limit: 50, cursor })}`),

  pubKey: (publisherId: string) => get<T.PubKey & { request: T.PubKeyRequest | null }>(`${of(publisherId)}/pub_key`),
  issuePubKey: (publisherId: string) => post<T.PubKey>(`${of(publisherId)}/pub_key`),
  reportKeys: (publisherId: string) => get<ReportKeyList>(`${of(publisherId)}/report_keys`),
  createReportKey: (publisherId: string, label: string, scope: KeyScope) =>
    post<NewReportKey>(`${of(publisherId)}/report_keys`, { label, scope }),
  revokeReportKey: (publisherId: string, keyId: string) => remove(`${of(publisherId)}/report_keys/${id(keyId)}`),

  facts: (publisherId: string, limit: number, cursor: string | null) =>
    get<T.FactsPage>(`${of(publisherId)}/facts${queryText({ limit, cursor })}`),
  replaceFacts: (publisherId: string, date: string, text: string, mediaType: string) =>
    call<{ rows: number }>("PUT", `${of(publisherId)}/facts/${id(date)}`, text, { "Content-Type": mediaType }),
  /** A dry run: returns what the file would change. */
  checkFacts: (publisherId: string, date: string, text: string, mediaType: string) =>
    call<Required<T.FactsReplaced>>("PUT", `${of(publisherId)}/facts/${id(date)}?dry_run=true`, text, {
      "Content-Type": mediaType,
    }),
  restateDay: (publisherId: string, date: string, isDryRun: boolean) =>
    post<T.RestatedDay>(`${of(publisherId)}/days/${id(date)}/restate?dry_run=${isDryRun}`),
};
