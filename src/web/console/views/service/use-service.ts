// The state of the catalog and of the pools.

import { get } from "../../api";
import { usePolled } from "../../poll";

/** The pause between polls of each part of the page. It is long because the catalog counts its rows for an answer. */
export const SERVICE_POLL_MILLISECONDS = 30_000;

export const useService = () =>
  usePolled("service", (isPoll) => get("/service", {}, isPoll), undefined, SERVICE_POLL_MILLISECONDS);
