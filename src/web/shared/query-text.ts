// Parameters as the query of a URL, or with `#` as its fragment.

/** Leaves out parameters that are missing or empty. */
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

/** The value if it is one of `names`, and an empty text otherwise. */
export const oneOf = <Name extends string>(value: string | null, names: readonly Name[]): Name | "" =>
  names.find((name) => name === value) ?? "";
