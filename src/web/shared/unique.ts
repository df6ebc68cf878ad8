// Texts of a list, each once.

/** Without the empty ones. */
export const unique = (texts: string[]) => [...new Set(texts)].filter(Boolean);
