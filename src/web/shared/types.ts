// Types of the calls that the dashboard and the console share.

import type { Schemas } from "./api-types";

export type * from "./generated/openapi-dashboard";

/** A publisher's members have one of the first four roles. The operator's members have one of the others. */
export type Role = Schemas["ShownRole"];
export type Refusal = Schemas["Error"];
export type WrongLine = NonNullable<Refusal["lines"]>[number];
export type Member = Schemas["MemberList"]["members"][number];
export type PendingInvite = Schemas["MemberList"]["invites"][number];
export type NewInvite = Schemas["Invited"];
export type AuditEntry = Schemas["AuditPage"]["entries"][number];
export type Invite = Schemas["InviteShown"];
export type ReportKey = Schemas["ReportKeyList"]["report_keys"][number];
export type EndpointHealth = Schemas["Activity"]["apps"][number]["endpoint"];
export type CallbackState = EndpointHealth["state"];
export type CallbackAnswer = NonNullable<Schemas["TestResponse"]>;

/** An analyst's story has only some of the fields that other roles see. */
export type RewardCallback = Schemas["AnalystReward"]["callbacks"][number] & Partial<Schemas["CallbackStory"]>;
export type RewardStory = Omit<Schemas["AnalystReward"], "callbacks"> &
  Partial<Omit<Schemas["RewardStory"], "callbacks">> & { callbacks: RewardCallback[] };
export type CallbackTry = Schemas["CallbackStory"]["attempts"][number];

export function isRefusal(part: object): part is Refusal {
  return "code" in part && "error" in part;
}
