// The schemas of the API's documents. `make test` generates them from openapi.yaml and openapi-dashboard.yaml.

import type { components as sites } from "./generated/openapi-dashboard";

/** The schemas of the calls that both sites make. */
export type Schemas = sites["schemas"];
