// Offers, as the operator's API has them.

import type { OperatorSchemas } from "../../shared/api-types";
import type { Platform } from "../../shared/types";

export const PLATFORMS = ["android", "ios", "web"] as const satisfies Platform[];

export type OfferType = OperatorSchemas["OfferType"];
export type Category = OperatorSchemas["Category"];
export type Country = OperatorSchemas["Country"];
export type Goal = OperatorSchemas["Goal"];
export type Offer = OperatorSchemas["Offer"];
export type OncePer = NonNullable<Offer["once_per"]>;
export type KeptOffer = OperatorSchemas["KeptOffer"];
export type WouldImport = OperatorSchemas["WouldImport"];
export type OfferPage = OperatorSchemas["OfferList"];
export type UsedCap = NonNullable<OperatorSchemas["CapUse"]>;
export type FiguresOfMany = OperatorSchemas["OfferFigures"];
/** Figures of the last 30 days in UTC, and the use of today's caps. */
export type Figures = FiguresOfMany["figures"][string];
export type NearCaps = OperatorSchemas["NearCaps"];
export type NearCap = NearCaps["caps"][number];
export type TermsHistory = OperatorSchemas["TermsList"];
export type Revision = TermsHistory["revisions"][number];
export type Terms = Revision["terms"];
export type ListedOffer = OperatorSchemas["ListedOffer"];
export type Preview = OperatorSchemas["OfferPreview"];
