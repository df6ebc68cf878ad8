// Keeps a person's choices in the browser.

/** Returns the stored text of `key`; stores `value` first if it is given. If site data is blocked, nothing is kept. */
export function stored(key: string, value?: string): string | null {
  try {
    if (value !== undefined) localStorage.setItem(key, value);
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
