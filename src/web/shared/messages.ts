// Text that the dashboard and the console share.

export * from "./messages/audit";
export * from "./messages/common";
export * from "./messages/names";
export * from "./messages/settings";
export * from "./messages/sign-in";
