// The schemas of the API's documents. `make test` generates them from openapi.yaml and openapi-dashboard.yaml.

import type { components as operator } from "./generated/openapi";
import type { components as sites } from "./generated/openapi-dashboard";

/** What the calls of both sites send and answer. */
export type Schemas = sites["schemas"];
/** What the operator's calls send and answer. */
export type OperatorSchemas = operator["schemas"];
