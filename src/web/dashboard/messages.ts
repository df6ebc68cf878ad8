// All text that people see, by view, so that it can be read as a whole and translated.

export * from "../shared/messages";
export * from "./messages/names";
export * from "./messages/overview";
export * from "./messages/reports";
