// The standing of the catalog and of the pools.

import { serviceApi } from "../../api/service";
import { usePolled } from "../../poll";

export const useService = () => usePolled("service", serviceApi.service);
