// Text of the console's frame.

export const frame = {
  attention: "Attention",
  publishers: "Publishers",
  offers: "Offers",
  advertisers: "Advertisers",
  rewards: "Rewards",
  service: "Service",
  settings: "Settings",
  menu: "Account",
  signOut: "Sign out",
};
