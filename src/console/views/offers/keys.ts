// The keys of what the views of offers load.

export const OFFERS_KEY = "offers";
export const offerKey = (offerId: string) => `offer ${offerId}`;
export const termsKey = (offerId: string) => `offer terms ${offerId}`;
export const figuresKey = (offerId: string) => `offer figures ${offerId}`;
