// The standing of the catalog and of the pools.

import { serviceApi } from "../../api/service";
import { usePolled } from "../../poll";

// The catalog counts its rows for each answer.
const POLL_MILLISECONDS = 30_000;

export const useService = () => usePolled("service", serviceApi.service, () => true, POLL_MILLISECONDS);
