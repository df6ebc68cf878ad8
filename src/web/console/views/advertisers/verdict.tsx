// The answer to a postback in words: its code, what happened, how to fix it, and the parameters.

import { Name } from "../../../shared/components/name";
import { type Column, column, Table } from "../../../shared/components/table";
import type { ShownParameters } from "../../../shared/generated/openapi";
import { codeName, doctor as text } from "../../messages/advertisers";

/** True if the postback was accepted, so that nobody has to do anything. */
const isTaken = (status: number) => status >= 200 && status < 300;

export const CodeBadge = ({ status, code }: { status: number; code: string }) => (
  <span class={isTaken(status) ? "badge approved" : status >= 500 ? "badge held" : "badge refused"}>
    {codeName(code)}
  </span>
);

/** What happened, and how to fix it. If the postback was refused, the remedy is the part to read. */
export const Words = ({ status, verdict, remedy }: { status: number; verdict: string; remedy: string }) => (
  <>
    <p>{verdict}</p>
    <p class={isTaken(status) ? "note" : "remedy"}>{remedy}</p>
  </>
);

const COLUMNS: Column<ShownParameters[number]>[] = [
  column("name", text.parameter, ({ name }) => (
    <code>
      <Name>{name}</Name>
    </code>
  )),
  column("value", text.value, ({ value }) => (
    <code class="parameter-value">
      <Name>{value}</Name>
    </code>
  )),
];

export function Parameters({ name, parameters }: { name: string; parameters: ShownParameters }) {
  if (parameters.length === 0) return <p class="note">{text.noParameters}</p>;
  // A postback may have two parameters of one name.
  return <Table name={name} columns={COLUMNS} rows={parameters} rowKey={(_, index) => index} />;
}
