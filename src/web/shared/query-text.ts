// Parameters as the query of an address, or with `#` as its fragment.

/** Those that are given and not empty. */
export function queryText(
  parameters: Record<string, string | number | null | undefined>,
  sign: "?" | "#" = "?",
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return text && sign + text;
}

/** The value where it is one of the names that are known, and else nothing. */
export const oneOf = <Name extends string>(value: string | null, names: readonly Name[]): Name | "" =>
  names.find((name) => name === value) ?? "";
