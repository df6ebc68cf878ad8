// Dry-runs a pasted postback URL: shows the answer that Signpost would give, and changes nothing.

import { useState } from "preact/hooks";
import { useAction } from "../../../shared/action";
import { Dialog, DialogButtons } from "../../../shared/components/dialog";
import { FactList } from "../../../shared/components/facts";
import { Area } from "../../../shared/components/field";
import { Form, SubmitButton } from "../../../shared/components/form";
import { Card } from "../../../shared/components/part";
import { FormError } from "../../../shared/components/states";
import { countryName, exactTimeText } from "../../../shared/format";
import type { PostbackCheck } from "../../../shared/generated/openapi";
import { post } from "../../api";
import { common } from "../../messages";
import { check as text } from "../../messages/advertisers";
import { appPath, offerPath } from "../../router";
import { CodeBadge, Parameters, Words } from "./verdict";

export const CheckCard = () => (
  <Card title={text.title} intro={text.intro}>
    <CheckForm />
  </Card>
);

export const CheckDialog = ({ onClose }: { onClose: () => void }) => (
  <Dialog title={text.title} isWide onClose={onClose}>
    <p>{text.intro}</p>
    <CheckForm />
    <DialogButtons onClose={onClose} cancel={common.close} />
  </Dialog>
);

/** The URL contains a token and a click ID, so it is kept only in memory. */
function CheckForm() {
  const [url, setUrl] = useState("");
  const [isMissing, setMissing] = useState(false);
  const [found, setFound] = useState<PostbackCheck | null>(null);
  const check = useAction(async () => {
    setFound(null);
    setFound(await post("/postback_check", {}, { url: url.trim() }));
  });
  return (
    <>
      <Form
        onSubmit={() => {
          setMissing(url.trim() === "");
          if (url.trim() !== "") void check.run();
        }}
      >
        <Area
          label={text.url}
          hint={text.urlHint}
          error={isMissing ? text.empty : null}
          rows={3}
          class="mono"
          spellcheck={false}
          value={url}
          onChange={setUrl}
        />
        <FormError error={check.error} />
        <SubmitButton isDisabled={check.isRunning}>{text.button}</SubmitButton>
      </Form>
      <div role="status">{found && <Found check={found} />}</div>
    </>
  );
}

function Found({ check }: { check: PostbackCheck }) {
  const { http_status: status, code, verdict, remedy, click, error, parameters } = check;
  return (
    <div class="check-result">
      <p>
        <CodeBadge status={status} code={code} /> <b>{text.would(status, code)}</b>
      </p>
      <Words status={status} verdict={verdict} remedy={remedy} />
      {error && <p class="note">{text.error(error)}</p>}
      {click ? (
        <>
          <h3>{text.click}</h3>
          {click.is_erased && <p class="note">{text.erased}</p>}
          <FactList
            facts={[
              [text.app, <a href={appPath(click.app_id)}>{click.app_id}</a>],
              [text.offer, click.offer_id && <a href={offerPath(click.offer_id)}>{click.offer_id}</a>],
              [text.goal, click.goal_id],
              [text.user, click.user_id],
              [text.clickedAt, click.clicked_at !== undefined && exactTimeText(click.clicked_at)],
              [text.country, click.country && countryName(click.country)],
              [text.placement, click.placement],
            ]}
          />
        </>
      ) : (
        <p>{text.noClick}</p>
      )}
      <h3>{text.parameters}</h3>
      <Parameters name={text.parameters} parameters={parameters} />
    </div>
  );
}
