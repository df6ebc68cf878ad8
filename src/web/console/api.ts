// The operator's calls.

import { callsOf } from "../shared/api";
import type { paths } from "../shared/generated/openapi";

export const { get, post, put, getTagged, putTagged, remove } = callsOf<paths, "/v1/operator">("/v1/operator");
