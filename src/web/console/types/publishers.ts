// Publishers, their people, keys and facts.

import type { OperatorSchemas } from "../../shared/api-types";

/** The part of a publisher that a write sends. */
export type PublisherDocument = OperatorSchemas["Publisher"];
export type Publisher = OperatorSchemas["KeptPublisher"];
/** Sums of 30 days over the apps that have had a conversion. */
export type PublisherFigures = OperatorSchemas["PublisherFigures"]["figures"][string];
export type PublisherPage = OperatorSchemas["PublisherList"];
export type PubKeyRequest = OperatorSchemas["PubKeyRequest"];
export type PubKey = OperatorSchemas["PubKey"];
export type DaySums = OperatorSchemas["DaySums"];
export type FactsPage = OperatorSchemas["DayList"];
export type FactsDay = FactsPage["days"][number];
export type FactsReplaced = OperatorSchemas["FactsReplaced"];
export type RestatedDay = OperatorSchemas["RestatedDay"];
