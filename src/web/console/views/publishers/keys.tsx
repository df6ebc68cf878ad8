// A publisher's Pub-Key and report keys.

import { useState } from "preact/hooks";
import { useAction } from "../../../shared/action";
import { ApiError } from "../../../shared/client";
import { Button, DangerButton, RunButton } from "../../../shared/components/button";
import { CopyField } from "../../../shared/components/copy-button";
import { Card } from "../../../shared/components/part";
import { FormError } from "../../../shared/components/states";
import { get, post, remove } from "../../api";
import { settings } from "../../../shared/messages/settings";
import type { KeptPublisher } from "../../../shared/generated/openapi";
import { keys as text, reportKeys, requests } from "../../messages/publishers";
import { may } from "../../session";
import { IssuePubKey, useRequests } from "./requests";
import { ReportKeys as SharedKeys } from "../../../shared/report-keys";
import { Part } from "./part";

export function Keys({ publisher }: { publisher: KeptPublisher }) {
  return (
    <>
      <PubKey publisher={publisher} />
      <ReportKeys publisher={publisher} />
    </>
  );
}

/** "none" if no key has been issued yet. */
type Shown = { key: string } | "none" | null;

async function load(publisher_id: string): Promise<Shown> {
  try {
    const { pub_key: key } = await get("/publishers/{publisher_id}/pub_key", { publisher_id });
    return { key };
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return "none";
    throw error;
  }
}

function PubKey({ publisher: { publisher_id: id, name, closed } }: { publisher: KeptPublisher }) {
  // Not in the cache, so that the key leaves the page's memory when the view closes.
  const [shown, setShown] = useState<Shown>(null);
  const [isIssuing, setIssuing] = useState(false);
  const asked = useRequests();
  const request = asked.data?.requests.find(({ publisher_id: other }) => other === id);
  const show = useAction(async () => setShown(await load(id)));
  return (
    <Card title={text.pubKeyTitle} intro={text.pubKeyIntro}>
      {request && (
        <p>
          {text.asked(request.requested_by, request.requested_at)} {text.reason(request.reason)}
        </p>
      )}
      {!may("manage") ? (
        <p class="note">{text.adminsOnly}</p>
      ) : (
        <>
          {shown === "none" && <p>{text.none}</p>}
          {shown !== null && shown !== "none" && <CopyField label={text.pubKeyTitle} value={shown.key} />}
          <FormError error={show.error} />
          <div class="row part-buttons">
            {shown === null ? (
              <RunButton of={show}>{settings.pubKey.show}</RunButton>
            ) : (
              shown !== "none" && <Button onClick={() => setShown(null)}>{settings.pubKey.hide}</Button>
            )}
            {!closed && <DangerButton onClick={() => setIssuing(true)}>{requests.issue}</DangerButton>}
            {shown === null && <p class="note">{settings.confirm}</p>}
          </div>
        </>
      )}
      {isIssuing && (
        <IssuePubKey
          publisherId={id}
          name={name}
          isFirst={shown === "none"}
          hasRequest={request !== undefined}
          onClose={() => {
            setIssuing(false);
            setShown(null);
          }}
        />
      )}
    </Card>
  );
}

const MAX_LABEL = 100;

const ReportKeys = ({ publisher: { publisher_id, closed } }: { publisher: KeptPublisher }) => (
  <SharedKeys
    cacheKey={`report_keys ${publisher_id}`}
    calls={{
      list: () => get("/publishers/{publisher_id}/report_keys", { publisher_id }),
      create: (label, scope) => post("/publishers/{publisher_id}/report_keys", { publisher_id }, { label, scope }),
      revoke: (key_id) => remove("/publishers/{publisher_id}/report_keys/{key_id}", { publisher_id, key_id }),
    }}
    words={reportKeys}
    longestLabel={MAX_LABEL}
    mayChange={!closed && may("manage")}
    frame={(keys) => (
      <Part title={reportKeys.title} intro={reportKeys.intro}>
        {keys}
      </Part>
    )}
  />
);
