// Types of the calls that the dashboard and the console share. They follow openapi-dashboard.yaml.

export * from "./types/rewards";

/** A publisher's members have the first three, the operator's the others. */
export type Role = "owner" | "developer" | "analyst" | "admin" | "support";

/** The member who is signed in. */
export interface SignedIn {
  member_id: string;
  name: string;
  role: Role;
  verified_until: number | null;
}

/** A member was let back in by someone. */
export interface Notice {
  kind: "recovery";
  member_name: string;
  by: string;
  at: number;
}

export interface Refusal {
  error: string;
  code: string;
  lines?: WrongLine[];
}

/** A line of an upload, from 1, and what is wrong with it. */
export interface WrongLine {
  line: number;
  column?: string;
  message: string;
}

export interface Member {
  member_id: string;
  name: string;
  role: Role;
  created_at: number;
  last_seen_at: number | null;
  passkeys: number;
  is_self: boolean;
}

export interface PendingInvite {
  invite_id: string;
  name: string;
  role: Role;
  expires_at: number;
  by: string;
  is_recovery: boolean;
}

export interface Members {
  members: Member[];
  invites: PendingInvite[];
}

export interface NewInvite {
  invite: string;
  url: string;
  expires_at: number;
}

export interface Session {
  session_id: string;
  created_at: number;
  last_seen_at: number;
  user_agent: string;
  is_current: boolean;
}

export interface Passkey {
  passkey_id: string;
  /** The browser that made it. */
  user_agent: string;
  created_at: number;
  last_used_at: number | null;
}

export interface AuditEntry {
  at: number;
  by: string;
  action: string;
  subject: string | null;
  detail: string | null;
  actor_id: string | null;
  subject_id: string | null;
  is_unconfirmed: boolean;
}

export interface AuditPage {
  entries: AuditEntry[];
  cursor: string | null;
}

export interface Invite {
  /** None for an invite to the console. */
  publisher: { publisher_id: string; name: string } | null;
  member_name: string;
  role: Role;
  expires_at: number;
  is_recovery: boolean;
  local_sign_in: boolean;
}

export interface CallbackRequest {
  method: "GET" | "POST";
  url: string;
  headers: Record<string, string>;
  body: string | null;
  /** The texts over which the signatures were made, each with the header or parameter that has it. */
  signed_content: { signature: string; algorithm: string; content: string }[];
}

export interface CallbackAnswer {
  http_status: number;
  ms: number;
  body: string;
}

export function isRefusal(part: object): part is Refusal {
  return "code" in part && "error" in part;
}
