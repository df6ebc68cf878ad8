// Names of roles, of the sections of the settings, and of the states of rewards.

import type { RewardDelivery, RewardState, Role } from "../types";

export const ROLE_NAMES: Record<Role, string> = {
  owner: "Owner",
  developer: "Developer",
  analyst: "Analyst",
  user_support: "User support",
  admin: "Admin",
  support: "Support",
};

export const ROLE_HINTS: Record<Role, string> = {
  owner: "everything, including members",
  developer: "reports, rewards, apps, keys and settings, but not members",
  analyst: "reports, and rewards without their users",
  user_support: "reports, rewards with their users, and resending single callbacks",
  admin: "everything, including members",
  support: "sees everything but keys, and resends up to 100 callbacks",
};

export type Section = "keys" | "pub_key" | "members" | "alarms" | "passkeys" | "sessions" | "audit";

export const SECTION_NAMES: Record<Section, string> = {
  keys: "Report keys",
  pub_key: "Pub-Key",
  members: "Members",
  alarms: "Alarms",
  passkeys: "Your passkeys",
  sessions: "Your sessions",
  audit: "Audit log",
};

export const STATE_NAMES: Record<RewardState, string> = {
  approved: "Approved",
  pending: "Pending",
  held: "Held for review",
  rejected: "Rejected",
  reversed: "Reversed",
  refused: "Refused",
};

export const DELIVERY_NAMES: Record<RewardDelivery, string> = {
  waiting: "Waiting",
  delivered: "Delivered",
  dead: "Given up",
  not_wanted: "Event not chosen",
  no_endpoint: "No callback",
};
