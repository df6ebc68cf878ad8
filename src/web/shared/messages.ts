// Text that the dashboard and the console share.

export * from "./messages/common";
export * from "./messages/names";
export * from "./messages/sign-in";
