// The tokens of an advertiser: issue one, see which are valid and which are used, revoke one.

import { useState } from "preact/hooks";
import { confirmed } from "../../../shared/change";
import { Button } from "../../../shared/components/button";
import { SecretDialog, useQuestion } from "../../../shared/components/form-dialog";
import { Card } from "../../../shared/components/part";
import { Plus } from "../../../shared/components/icons";
import { buttonColumn } from "../../../shared/components/row-button";
import { type Column, column, Table } from "../../../shared/components/table";
import { durationText, timeText } from "../../../shared/format";
import type { KeptAdvertiser, NewToken } from "../../../shared/generated/openapi";
import { post, remove } from "../../api";
import { tokens as text } from "../../messages/advertisers";
import { may, nowMilliseconds } from "../../session";
import type { TokenUse } from "./use-postbacks";

/** A valid token, or a revoked token that postbacks still use. */
interface Row {
  token_id: string;
  /** Undefined for a revoked token: Signpost keeps only the valid ones. */
  issued_at?: number;
  /** Undefined if no postback used the token within 90 days, or if that is unknown. */
  last_used_at?: number;
}

// A revoked token is highlighted for two days after its last use, because some advertisers send their postbacks only
// once a day.
const RECENT_MILLISECONDS = 2 * 86_400_000;

interface Props {
  advertiser: KeptAdvertiser;
  /** Undefined until it has loaded. */
  uses: TokenUse[] | undefined;
  reload: () => Promise<unknown>;
}

export function Tokens({ advertiser, uses, reload }: Props) {
  const { advertiser_id, tokens } = advertiser;
  const valid = newestFirst(tokens);
  const rows = rowsOf(tokens, uses);
  const [issued, setIssued] = useState<NewToken | null>(null);
  const oldest = valid.length >= 2 ? valid[valid.length - 1]! : null;
  const [askToIssue, issuing] = useQuestion(() => ({
    title: text.issueTitle,
    text: oldest ? text.issueEnds(oldest.token_id) : text.issueText,
    button: text.issue,
    onConfirm: async (close) => {
      try {
        setIssued(await post("/advertisers/{advertiser_id}/token", { advertiser_id }));
      } catch (error) {
        // The answer may be lost after the token was issued. Then the next token ends another one, which the text says.
        await reload();
        throw error;
      }
      close();
    },
  }));
  const [askToRevoke, revoking] = useQuestion<Row>(({ token_id }) => ({
    title: text.revokeTitle(token_id),
    text: valid.length === 1 ? `${text.revokeText} ${text.revokeLast}` : text.revokeText,
    button: text.revoke,
    dangerous: true,
    onConfirm: confirmed(
      () => remove("/advertisers/{advertiser_id}/token/{token_id}", { advertiser_id, token_id }),
      text.revoked(token_id),
      reload,
    ),
  }));
  return (
    <Card title={text.title} intro={text.intro}>
      {rows.length > 0 ? (
        <div class="part-table">
          <Table name={text.title} columns={columns(uses !== undefined, askToRevoke)} rows={rows} rowKey="token_id" />
        </div>
      ) : (
        <p class="no-tokens">
          <b>{text.emptyTitle}.</b> {text.empty}
        </p>
      )}
      {may("manage") && (
        <Button onClick={askToIssue}>
          <Plus /> {text.issue}
        </Button>
      )}
      {issuing}
      {issued && (
        <SecretDialog
          title={text.issuedTitle}
          text={text.issuedText}
          label={text.token}
          value={issued.token}
          onClose={() => {
            setIssued(null);
            void reload();
          }}
        />
      )}
      {revoking}
    </Card>
  );
}

const newestFirst = <Listed extends { token_id: string }>(list: Listed[]) =>
  list.toSorted((one, other) => Number(other.token_id) - Number(one.token_id));

function rowsOf(tokens: KeptAdvertiser["tokens"], uses: TokenUse[] = []): Row[] {
  const used = new Map(uses.map(({ token_id, last_used_at }) => [token_id, last_used_at]));
  const valid: Row[] = tokens.map((token) => ({ ...token, last_used_at: used.get(token.token_id) }));
  const known = new Set(tokens.map(({ token_id }) => token_id));
  return newestFirst([...valid, ...uses.filter(({ token_id }) => !known.has(token_id))]);
}

const isValid = ({ issued_at: at }: Row) => at !== undefined;

function columns(areUsesKnown: boolean, revoke: (row: Row) => void): Column<Row>[] {
  const end = buttonColumn<Row>({
    name: text.revoke,
    labelOf: ({ token_id }) => `${text.revoke} ${token_id}`,
    isDangerous: true,
    isShown: isValid,
    onClick: revoke,
  });
  return [
    column("serial", text.serial, ({ token_id }) => <code>{token_id}</code>),
    column("issued", text.issuedAt, ({ issued_at: at }) =>
      at === undefined ? <span class="note">{text.unknown}</span> : timeText(at),
    ),
    column("used", text.lastUsed, ({ last_used_at: at }) => {
      if (at !== undefined) return timeText(at);
      return <span class="note">{areUsesKnown ? text.notUsed : text.unknown}</span>;
    }),
    column("state", text.state, (row) =>
      isValid(row) ? <span class="badge approved">{text.valid}</span> : <Revoked row={row} />,
    ),
    ...(may("manage") ? [end] : []),
  ];
}

/** Postbacks with a revoked token are lost conversions, so the token is listed as long as such postbacks arrive. */
function Revoked({ row: { last_used_at: at = 0 } }: { row: Row }) {
  const ago = Math.max(nowMilliseconds() - at * 1000, 0);
  return (
    <span class="lines">
      <span class={ago < RECENT_MILLISECONDS ? "badge refused" : "badge"}>{text.revokedState}</span>
      <span class="note">{text.usedBefore(durationText(ago))}</span>
    </span>
  );
}
