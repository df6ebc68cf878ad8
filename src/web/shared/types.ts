// Types of the calls that the dashboard and the console share.

import type { Schemas } from "./api-types";

export type * from "./generated/openapi-dashboard";

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
export type AuditEntry = Schemas["AuditPage"]["entries"][number];
export type Invite = Schemas["InviteShown"];
export type ReportKey = Schemas["ReportKeyList"]["report_keys"][number];
export type EndpointHealth = Schemas["Activity"]["apps"][number]["endpoint"];
export type CallbackState = EndpointHealth["state"];
export type CallbackRequest = Schemas["TestRequest"];
export type CallbackAnswer = NonNullable<Schemas["TestResponse"]>;

export type CallbackEvent = Schemas["OwnCallbackEvent"];
/** An analyst's story has only some of the fields that other roles see. */
export type RewardCallback = Schemas["AnalystReward"]["callbacks"][number] & Partial<Schemas["CallbackStory"]>;
export type RewardStory = Omit<Schemas["AnalystReward"], "callbacks"> &
  Partial<Omit<Schemas["RewardStory"], "callbacks">> & { callbacks: RewardCallback[] };
export type CallbackTry = Schemas["CallbackStory"]["attempts"][number];

export function isRefusal(part: object): part is Refusal {
  return "code" in part && "error" in part;
}
