// Advertisers, their tokens and their postbacks.

import type { OperatorSchemas } from "../../shared/api-types";

export type Advertiser = OperatorSchemas["KeptAdvertiser"];
export type Token = Advertiser["tokens"][number];
export type AdvertiserPage = OperatorSchemas["AdvertiserList"];
export type NewToken = OperatorSchemas["NewToken"];
export type PostbackPage = OperatorSchemas["PostbackList"];
export type Postback = PostbackPage["postbacks"][number];
export type TokenUse = PostbackPage["tokens"][number];
export type Parameter = OperatorSchemas["ShownParameters"][number];
export type PostbackCheck = OperatorSchemas["PostbackCheck"];
