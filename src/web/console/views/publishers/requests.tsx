// Open requests of publishers for a new Pub-Key, the oldest first, and the dialog that issues the Pub-Key.

import { useState } from "preact/hooks";
import { refresh, useCached } from "../../../shared/cache";
import { Confirm, SecretDialog } from "../../../shared/components/form-dialog";
import { focusHeading } from "../../../shared/components/heading";
import { Name } from "../../../shared/components/name";
import { buttonColumn } from "../../../shared/components/row-button";
import { Section } from "../../../shared/components/section";
import { Failed, Stale } from "../../../shared/components/states";
import { type Column, column, Table } from "../../../shared/components/table";
import { timeText } from "../../../shared/format";
import type { PubKeyRequest } from "../../../shared/generated/openapi";
import { get, post } from "../../api";
import { issue, requests as text } from "../../messages/publishers";
import { publisherPath } from "../../router";
import { may } from "../../session";
import { REQUESTS_KEY } from "../cache-keys";

type Request = PubKeyRequest & { publisher_id: string };

// Maximum requests in one answer.
const MAX_REQUESTS = 100;

/** Open requests of all publishers. */
export const useRequests = () => useCached(REQUESTS_KEY, () => get("/pub_key_requests", {}));

/** Shows nothing without open requests. */
export function Requests() {
  const requests = useRequests();
  const [asked, setAsked] = useState<Request | null>(null);
  const rows = requests.data?.requests;
  if (!rows) return requests.error ? <Failed error={requests.error} retry={requests.reload} compact /> : null;
  return (
    <>
      <Stale of={requests} retry={requests.reload} />
      {rows.length > 0 && (
        <Section title={text.title}>
          <Table name={text.title} columns={columns(setAsked)} rows={rows} rowKey="publisher_id" />
          {rows.length >= MAX_REQUESTS && <p class="note card-foot">{text.more}</p>}
        </Section>
      )}
      {asked && (
        <IssuePubKey
          publisherId={asked.publisher_id}
          name={asked.publisher_id}
          isFirst={false}
          hasRequest
          onClose={() => {
            setAsked(null);
            void requests.reload().then(focusHeading);
          }}
        />
      )}
    </>
  );
}

const columns = (ask: (request: Request) => void): Column<Request>[] => [
  column("publisher", text.publisher, ({ publisher_id: id }) => <a href={publisherPath(id)}>{id}</a>),
  column("by", text.by, ({ requested_by: by }) => <Name>{by}</Name>),
  column("at", text.at, ({ requested_at: at }) => timeText(at)),
  column("reason", text.reason, ({ reason }) => <Name class="wrap">{reason}</Name>),
  buttonColumn({
    header: text.action,
    name: text.issue,
    labelOf: (request) => text.issueFor(request.publisher_id),
    isShown: () => may("manage"),
    onClick: ask,
  }),
];

interface IssueProps {
  publisherId: string;
  name: string;
  /** True if the publisher has no Pub-Key yet, so that no former key ends. */
  isFirst: boolean;
  hasRequest: boolean;
  onClose: () => void;
}

export function IssuePubKey({ publisherId, name, isFirst, hasRequest, onClose }: IssueProps) {
  const [made, setMade] = useState<string | null>(null);
  if (made !== null) {
    return (
      <SecretDialog
        key="made"
        title={issue.madeTitle}
        text={issue.made}
        label={issue.label}
        value={made}
        onClose={onClose}
      />
    );
  }
  return (
    <Confirm
      key="ask"
      title={isFirst ? issue.firstTitle(name) : issue.title(name)}
      text={[isFirst ? issue.firstText : issue.text, hasRequest && issue.closes].filter(Boolean).join(" ")}
      button={issue.issue}
      dangerous={!isFirst}
      onConfirm={async () => {
        const { pub_key: key } = await post("/publishers/{publisher_id}/pub_key", { publisher_id: publisherId });
        setMade(key);
        void refresh(REQUESTS_KEY);
      }}
      onClose={onClose}
    />
  );
}
