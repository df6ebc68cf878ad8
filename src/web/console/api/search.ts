// The search that identifies a pasted text. The text is sent in the body, which no log contains.

import { post } from "../../shared/client";
import type { Found } from "../types/search";
import { OPERATOR } from "./operator";

export const search = (text: string, app_id: string) =>
  post<Found>(`${OPERATOR}/search`, { text, ...(app_id && { app_id }) });
