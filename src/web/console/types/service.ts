// How the service is doing.

import type { OperatorSchemas } from "../../shared/api-types";

export type Service = OperatorSchemas["ServiceState"];
export type CallbackPage = OperatorSchemas["CallbackList"];
export type Pool = Service["pools"][number];
export type Reported = OperatorSchemas["Reported"];
export type ReportedFigure = Reported["isolates"][number];
