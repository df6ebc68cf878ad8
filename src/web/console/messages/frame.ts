// Text of the console's frame.

export const frame = {
  attention: "Attention",
  publishers: "Publishers",
  offers: "Offers",
  advertisers: "Advertisers",
  refused: "Refused postbacks",
  service: "Service",
};
