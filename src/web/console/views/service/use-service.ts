// The standing of the catalog and of the pools.

import { serviceApi } from "../../api/service";
import { usePolled } from "../../poll";

/** Of each part of the page. The catalog counts its rows for an answer. */
export const SERVICE_POLL_MILLISECONDS = 30_000;

export const useService = () => usePolled("service", serviceApi.service, undefined, SERVICE_POLL_MILLISECONDS);
