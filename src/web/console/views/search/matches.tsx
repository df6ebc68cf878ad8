// The matches that have a page of their own.

import { Section } from "../../../shared/components/section";
import { type Column, column, Table } from "../../../shared/components/table";
import { State } from "../../../shared/rewards/badges";
import type { Found } from "../../../shared/generated/openapi";
import { search as text } from "../../messages/search";
import { advertiserPath, appPath, offerPath, publisherPath, rewardPath } from "../../router";

export type Match = Found["matches"][number];
export type UserMatch = Extract<Match, { kind: "user" }>;
/** A click that is not shown: it is too old, or its user was erased. */
export type HiddenClick = Extract<Match, { not_shown: string }>;
export type ClickMatch = Exclude<Extract<Match, { kind: "click" }>, HiddenClick>;
type PageMatch = Exclude<Match, { kind: "user" | "click" }>;

export const hasPage = (match: Match): match is PageMatch => match.kind !== "user" && match.kind !== "click";

/**
 * True if the page of the match opens at once. A key or a token is shown first, because its page tells neither which
 * one matched nor that it was revoked.
 */
export const opensAtOnce = (match: Match): match is PageMatch =>
  hasPage(match) && match.kind !== "report_key" && match.kind !== "token";

export function hrefOf(match: PageMatch): string {
  switch (match.kind) {
    case "app":
      return appPath(match.app_id);
    case "advertiser":
    case "token":
      return advertiserPath(match.advertiser_id);
    case "offer":
    case "goal":
      return offerPath(match.offer_id);
    case "reward":
      return rewardPath(match.app_id, match.transaction_id);
    case "report_key":
    case "pub_key":
      return `${publisherPath(match.publisher_id)}?section=keys`;
    default:
      return publisherPath(match.publisher_id);
  }
}

function nameOf(match: PageMatch): string {
  switch (match.kind) {
    case "goal":
      return match.title ?? match.goal_id;
    case "report_key":
      return match.label ?? text.names.report_key;
    case "pub_key":
      return text.names.pub_key;
    case "token":
      return text.serial(match.token_id);
    case "reward":
      return match.transaction_id;
    default:
      return match.name;
  }
}

/** The owner of a match, and what is special about it. */
function more(match: PageMatch) {
  switch (match.kind) {
    case "publisher":
      return match.approved ? match.publisher_id : `${match.publisher_id}, ${text.notApproved}`;
    case "app":
      return `${match.app_id}, ${text.ofPublisher(match.publisher_id)}`;
    case "advertiser":
      return match.advertiser_id;
    case "offer":
      return [match.offer_id, text.ofAdvertiser(match.advertiser_id), !match.active && text.notActive]
        .filter(Boolean)
        .join(", ");
    case "goal":
      return `${match.goal_id}, ${text.ofOffer(match.offer_id)}`;
    case "report_key":
      return (
        <Credential state={reportKeyState(match)} owner={text.ofPublisher(match.publisher_id)} id={match.key_id} />
      );
    case "token":
      return <Credential state={tokenState(match)} owner={text.ofAdvertiser(match.advertiser_id)} id={null} />;
    case "reward":
      return (
        <>
          {text.inApp(match.app_id)} <State state={match.state} />
        </>
      );
    default:
      return text.ofPublisher(match.publisher_id);
  }
}

type Of<Kind> = Extract<PageMatch, { kind: Kind }>;
type CredentialState = keyof typeof text.credentials;

const reportKeyState = ({ is_issued, key_id }: Of<"report_key">): CredentialState =>
  !is_issued ? "begun_key" : key_id === null ? "revoked_key" : "valid";

/** The first characters of a token match only while the token is valid. */
const tokenState = ({ is_issued, is_valid }: Of<"token">): CredentialState =>
  !is_issued ? "begun_token" : is_valid ? "valid" : "revoked_token";

const BADGES: Record<CredentialState, string> = {
  valid: "approved",
  revoked_key: "refused",
  revoked_token: "refused",
  begun_key: "held",
  begun_token: "held",
};

function Credential({ state, owner, id }: { state: CredentialState; owner: string; id: string | null }) {
  const { badge, note } = text.credentials[state];
  return (
    <span class="lines">
      <span class={`badge ${BADGES[state]}`}>{badge}</span>
      <span>
        {id && (
          <>
            {text.keyId} <code>{id}</code>,{" "}
          </>
        )}
        {owner}
      </span>
      {note && <span class="note">{note}</span>}
    </span>
  );
}

const columns: Column<PageMatch>[] = [
  column("name", text.columns.name, (match) => (
    <a href={hrefOf(match)}>
      <bdi>{nameOf(match)}</bdi>
    </a>
  )),
  column("kind", text.columns.kind, ({ kind }) => text.names[kind] ?? kind),
  column("more", text.columns.where, (match) => <span class="wrap">{more(match)}</span>),
];

export function PageMatches({ matches, total }: { matches: PageMatch[]; total: number }) {
  return (
    <Section title={text.several(total)} class="card table-card">
      <Table name={text.several(total)} columns={columns} rows={matches} rowKey={(match) => JSON.stringify(match)} />
    </Section>
  );
}
