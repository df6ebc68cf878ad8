// Keeps a person's choices in the browser.

/** Returns the kept text of `key`, after it was set where a value is given. With site data blocked nothing is kept. */
export function stored(key: string, value?: string): string | null {
  try {
    if (value !== undefined) localStorage.setItem(key, value);
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
