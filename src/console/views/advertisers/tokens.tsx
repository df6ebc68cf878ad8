// The tokens of an advertiser: issue one, see which are valid, revoke one.

import { useState } from "preact/hooks";
import { Card } from "../../../pages/components/part";
import { Confirm, SecretDialog } from "../../../pages/components/dialog";
import { focusHeading } from "../../../pages/components/heading";
import { Plus } from "../../../pages/components/icons";
import { say } from "../../../pages/components/status";
import { type Column, Table } from "../../../pages/components/table";
import { timeText } from "../../../pages/format";
import { withVerification } from "../../../pages/passkeys";
import { advertisersApi } from "../../api/advertisers";
import { common } from "../../messages";
import { tokens as text } from "../../messages/advertisers";
import { may } from "../../session";
import type { Advertiser, NewToken, Token } from "../../types/advertisers";

/** Only the valid ones are listed, unless the answer says otherwise. */
export const isValid = ({ is_valid }: Token) => is_valid !== false;

interface Props {
  advertiser: Advertiser;
  reload: () => Promise<void>;
}

export function Tokens({ advertiser, reload }: Props) {
  const { advertiser_id: id } = advertiser;
  const list = advertiser.tokens.toSorted((one, other) => Number(other.token_id) - Number(one.token_id));
  const valid = list.filter(isValid);
  const [isIssuing, setIssuing] = useState(false);
  const [issued, setIssued] = useState<NewToken | null>(null);
  const [revoked, setRevoked] = useState<Token | null>(null);
  const oldest = valid.length >= 2 ? valid[valid.length - 1]! : null;
  return (
    <Card title={text.title} intro={text.intro}>
      {list.length > 0 ? (
        <div class="part-table">
          <Table
            stacks
            name={text.title}
            columns={columns(list, setRevoked)}
            rows={list}
            rowKey={({ token_id }) => token_id}
          />
        </div>
      ) : (
        <p class="no-tokens">
          <b>{text.emptyTitle}.</b> {text.empty}
        </p>
      )}
      {may("manage") && (
        <button type="button" class="button" onClick={() => setIssuing(true)}>
          <Plus /> {text.issue}
        </button>
      )}
      {isIssuing && (
        <Confirm
          title={text.issueTitle}
          text={oldest ? text.issueEnds(oldest.token_id) : text.issueText}
          button={text.issue}
          onConfirm={async () => {
            setIssued(await withVerification(() => advertisersApi.issueToken(id)));
            setIssuing(false);
          }}
          onClose={() => setIssuing(false)}
        />
      )}
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
      {revoked && (
        <Confirm
          title={text.revokeTitle(revoked.token_id)}
          text={valid.length === 1 ? `${text.revokeText} ${text.revokeLast}` : text.revokeText}
          button={text.revoke}
          dangerous
          onConfirm={async () => {
            await withVerification(() => advertisersApi.revokeToken(id, revoked.token_id));
            say(text.revoked(revoked.token_id));
            setRevoked(null);
            await reload();
            focusHeading();
          }}
          onClose={() => setRevoked(null)}
        />
      )}
    </Card>
  );
}

function columns(list: Token[], revoke: (token: Token) => void): Column<Token>[] {
  const hasUse = list.some(({ last_used_at }) => last_used_at !== undefined);
  const used: Column<Token> = {
    key: "used",
    header: text.lastUsed,
    cell: ({ last_used_at: at }) => (at === undefined ? text.unknown : at === null ? common.never : timeText(at)),
  };
  const end: Column<Token> = {
    key: "revoke",
    header: text.revoke,
    isHeaderHidden: true,
    isNumber: true,
    cell: (token) =>
      isValid(token) && (
        <button
          type="button"
          class="button small danger-text"
          aria-label={`${text.revoke} ${token.token_id}`}
          onClick={() => revoke(token)}
        >
          {text.revoke}
        </button>
      ),
  };
  return [
    { key: "serial", header: text.serial, cell: ({ token_id }) => <code>{token_id}</code> },
    { key: "issued", header: text.issuedAt, cell: ({ issued_at }) => timeText(issued_at) },
    ...(hasUse ? [used] : []),
    {
      key: "state",
      header: text.state,
      cell: (token) =>
        isValid(token) ? (
          <span class="badge approved">{text.valid}</span>
        ) : (
          <span class="badge">{text.ended}</span>
        ),
    },
    ...(may("manage") ? [end] : []),
  ];
}
