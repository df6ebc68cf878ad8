// Names of roles and of the sections of the settings.

import type { Role } from "../types";

export const ROLE_NAMES: Record<Role, string> = {
  owner: "Owner",
  developer: "Developer",
  analyst: "Analyst",
  admin: "Admin",
  support: "Support",
};

export const ROLE_HINTS: Record<Role, string> = {
  owner: "everything, including members",
  developer: "reports, rewards, apps, keys and settings, no members",
  analyst: "reports, and rewards without their users",
  admin: "everything, including members",
  support: "sees everything but keys, and sends up to 100 callbacks again",
};

export type Section = "keys" | "pub_key" | "members" | "passkeys" | "sessions" | "audit";

export const SECTION_NAMES: Record<Section, string> = {
  keys: "Report keys",
  pub_key: "Pub-Key",
  members: "Members",
  passkeys: "Your passkeys",
  sessions: "Your sessions",
  audit: "Audit log",
};
