// The address and the source of a page of operations, and the list of its headings.

export default {
  permalink: ({ shown }) => `${shown.address}index.html`,
  eleventyComputed: {
    address: ({ shown }) => shown.address,
    source: ({ shown }) => shown.file,
    headings: ({ shown }) => [
      ...shown.operations.map(({ id, summary }) => ({ level: "h2", slug: id, title: summary })),
      ...(shown.objects.length > 0 ? [{ level: "h2", slug: "objects", title: "Objects" }] : []),
      ...shown.objects.map(({ name }) => ({ level: "h3", slug: `object-${name}`, title: name })),
    ],
  },
};
