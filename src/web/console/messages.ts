// All text of the console, by view, so that it can be read as a whole and translated.

export * from "../shared/messages";
export * from "./messages/frame";
