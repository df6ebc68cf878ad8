// A number with its noun.

import { count } from "../format";

export const plural = (value: number, one: string, many: string) => `${count(value)} ${value === 1 ? one : many}`;
