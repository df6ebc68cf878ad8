// All text of the console, by view, so that it can be read as a whole and translated.

export * from "../shared/messages";

export const frame = {
  attention: "Attention",
  publishers: "Publishers",
  offers: "Offers",
  advertisers: "Advertisers",
  refused: "Refused postbacks",
  service: "Service",
};
