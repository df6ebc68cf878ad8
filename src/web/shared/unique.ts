// Removes repeated texts from a list.

/** Also removes empty texts. */
export const unique = (texts: string[]) => [...new Set(texts)].filter(Boolean);
