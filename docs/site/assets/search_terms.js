// Turns texts into terms of the search. The build, which makes the index, and the page, which asks it, share this file.

/** Words, and names such as `invalid_page`, which are found as a whole and by their parts. */
const WORD = /[\p{L}\p{N}_-]+/gu;

export const OPTIONS = {
  fields: ["title", "page", "text"],
  storeFields: ["title", "page", "start"],
  tokenize: (text) =>
    (text.match(WORD) ?? []).flatMap((word) => {
      const parts = word.split(/[_-]+/).filter(Boolean);
      return parts.length > 1 ? [word, ...parts] : [word.replace(/^[_-]+|[_-]+$/g, "")];
    }),
  processTerm: (term) => term.toLowerCase() || null,
};

export const SEARCH = {
  boost: { title: 5, page: 2 },
  // Objects stand on several pages, and the dashboard's calls are internal.
  boostDocument: (id) => (id.includes("#object-") ? 0.3 : id.startsWith("api/dashboard-") ? 0.5 : 1),
  combineWith: "AND",
  prefix: (term) => term.length > 1,
  fuzzy: (term) => (term.length > 4 && !term.includes("_") ? 0.2 : false),
  tokenize: (text) => text.match(WORD) ?? [],
};
