// A page of a list, as views have it.

export interface ListPage<Row> {
  rows: Row[];
  cursor: string | null;
}

/** A page whose answer has its rows by the name of what is listed. */
export const pageOf =
  <Name extends string>(name: Name) =>
  <Row>(answer: Record<Name, Row[]> & { cursor: string | null }): ListPage<Row> => ({
    rows: answer[name],
    cursor: answer.cursor,
  });
