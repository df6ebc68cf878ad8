// A page of a list, as views have it.

export interface ListPage<Row> {
  rows: Row[];
  cursor: string | null;
}

/** Makes a page from an answer whose rows are a member named after the listed resource. */
export const pageOf =
  <Name extends string>(name: Name) =>
  <Row>(answer: Record<Name, Row[]> & { cursor: string | null }): ListPage<Row> => ({
    rows: answer[name],
    cursor: answer.cursor,
  });
