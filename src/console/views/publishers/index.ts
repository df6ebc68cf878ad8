// Views of publishers and their apps, loaded when they are opened first.

export { App } from "./app";
export { Publisher } from "./publisher";
export { Publishers } from "./publishers";
