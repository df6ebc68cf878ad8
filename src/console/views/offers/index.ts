// The views of offers, loaded when one of them is opened.

export { Import } from "./import";
export { Offer } from "./offer";
export { Offers } from "./offers";
