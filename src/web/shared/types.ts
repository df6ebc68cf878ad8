// Types of the calls that the dashboard and the console share.

import type { Schemas } from "./api-types";

export * from "./types/rewards";

/** A publisher's members have one of the first four roles. The operator's members have one of the others. */
export type Role = Schemas["ShownRole"];
export type Refusal = Schemas["Error"];
export type WrongLine = NonNullable<Refusal["lines"]>[number];
export type Members = Schemas["MemberList"];
export type Member = Members["members"][number];
export type PendingInvite = Members["invites"][number];
export type NewInvite = Schemas["Invited"];
export type Session = Schemas["OwnSession"];
export type Passkey = Schemas["OwnPasskey"];
export type AuditPage = Schemas["AuditPage"];
export type AuditEntry = AuditPage["entries"][number];
export type Invite = Schemas["InviteShown"];
export type ReportKeyList = Schemas["ReportKeyList"];
export type ReportKey = ReportKeyList["report_keys"][number];
export type KeyScope = ReportKey["scope"];
export type NewReportKey = Schemas["NewReportKey"];
export type AlarmAddress = Schemas["AlarmAddress"];
export type AlarmTry = Schemas["AlarmTry"];
export type AlarmsTested = Schemas["AlarmsTested"];
export type Platform = Schemas["Platform"];
export type Activity = Schemas["Activity"];
export type RewardCounts = Schemas["RewardCounts"];
export type EndpointHealth = Activity["apps"][number]["endpoint"];
export type CallbackState = EndpointHealth["state"];
export type CallbackRequest = Schemas["TestRequest"];
export type CallbackAnswer = NonNullable<Schemas["TestResponse"]>;

export function isRefusal(part: object): part is Refusal {
  return "code" in part && "error" in part;
}
