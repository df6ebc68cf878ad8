// Calls about the account of a site: sign-in, members, passkeys, sessions, audit.

import { BASE, get, id, patch, post, remove } from "./client";
import type * as T from "./types";

interface Options<Json> {
  options: Json;
}

export const accountApi = {
  invite: (invite: string) => post<T.Invite>(`${BASE}/invite`, { invite }),
  signIn: (invite: string) => post(`${BASE}/sign_in`, { invite }),
  signOut: () => post(`${BASE}/sign_out`),
  creationOptions: (invite: string) =>
    post<Options<PublicKeyCredentialCreationOptionsJSON>>(`${BASE}/passkeys/creation`, { invite }),
  storePasskey: (invite: string, credential: object) => post(`${BASE}/passkeys`, { invite, credential }),
  requestOptions: () => post<Options<PublicKeyCredentialRequestOptionsJSON>>(`${BASE}/passkeys/request`),
  signInWithPasskey: (credential: object) => post(`${BASE}/sign_in/passkey`, { credential }),
  passkeys: () => get<{ passkeys: T.Passkey[] }>(`${BASE}/passkeys`),
  additionOptions: () => post<Options<PublicKeyCredentialCreationOptionsJSON>>(`${BASE}/passkeys/another/creation`),
  addPasskey: (credential: object) => post(`${BASE}/passkeys/another`, { credential }),
  removePasskey: (passkey_id: string) => remove(`${BASE}/passkeys/${id(passkey_id)}`),
  verifyOptions: () => post<Options<PublicKeyCredentialRequestOptionsJSON>>(`${BASE}/verify/request`),
  verify: (credential: object) => post(`${BASE}/verify`, { credential }),

  members: () => get<T.Members>(`${BASE}/members`),
  createInvite: (name: string, role: T.Role) => post<T.NewInvite>(`${BASE}/invites`, { name, role }),
  withdrawInvite: (invite_id: string) => remove(`${BASE}/invites/${id(invite_id)}`),
  changeRole: (member_id: string, role: T.Role) => patch(`${BASE}/members/${id(member_id)}`, { role }),
  removeMember: (member_id: string) => remove(`${BASE}/members/${id(member_id)}`),
  recoverMember: (member_id: string) => post<T.NewInvite>(`${BASE}/members/${id(member_id)}/recovery`),
  sessions: () => get<{ sessions: T.Session[] }>(`${BASE}/sessions`),
  endSession: (session_id: string) => remove(`${BASE}/sessions/${id(session_id)}`),
  audit: (cursor: string | null) => get<T.AuditPage>(`${BASE}/audit?limit=50${cursor ? `&cursor=${id(cursor)}` : ""}`),
};
