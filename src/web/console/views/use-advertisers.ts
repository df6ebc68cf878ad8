// The advertisers by name, for lists and choices. Beyond the first page an advertiser is named by its ID.

import { useCached } from "../../shared/cache";
import { get } from "../api";
import { ADVERTISER_NAMES_KEY } from "./cache-keys";

const MOST = 1000;

export function useAdvertisers() {
  const { data } = useCached(ADVERTISER_NAMES_KEY, () => get("/advertisers", { limit: MOST }));
  const names = new Map(data?.advertisers.map(({ advertiser_id, name }) => [advertiser_id, name]));
  return {
    ids: [...names.keys()],
    /** True if an ID that is not in the list belongs to no advertiser. */
    isWhole: data !== undefined && data.cursor === null,
    nameOf: (id: string) => names.get(id) ?? id,
  };
}
