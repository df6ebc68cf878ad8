// What Signpost would answer to a postback URL that is pasted, without doing it.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useAction } from "../../../shared/action";
import { Dialog } from "../../../shared/components/dialog";
import { Field } from "../../../shared/components/field";
import { Name } from "../../../shared/components/name";
import { Card } from "../../../shared/components/part";
import { FormError } from "../../../shared/components/states";
import { countryName, exactTimeText } from "../../../shared/format";
import { advertisersApi } from "../../api/advertisers";
import { common } from "../../messages";
import { check as text } from "../../messages/advertisers";
import { appPath, offerPath } from "../../router";
import type { PostbackCheck } from "../../types/advertisers";
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
    <div class="dialog-buttons">
      <button type="button" class="button" onClick={onClose}>
        {common.close}
      </button>
    </div>
  </Dialog>
);

/** The URL has a token and a click ID, so it stays in memory. */
function CheckForm() {
  const [url, setUrl] = useState("");
  const [isMissing, setMissing] = useState(false);
  const [found, setFound] = useState<PostbackCheck | null>(null);
  const check = useAction(async () => {
    setFound(null);
    setFound(await advertisersApi.checkPostback(url.trim()));
  });
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setMissing(url.trim() === "");
          if (url.trim() !== "") void check.run();
        }}
      >
        <Field label={text.url} hint={text.urlHint} error={isMissing ? text.empty : null}>
          {(props) => (
            <textarea
              {...props}
              rows={3}
              class="mono"
              spellcheck={false}
              value={url}
              onInput={(event) => setUrl(event.currentTarget.value)}
            />
          )}
        </Field>
        <FormError error={check.error} />
        <button type="submit" class="button primary" aria-disabled={check.isRunning}>
          {text.button}
        </button>
      </form>
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
          <dl class="facts">
            <Fact name={text.app}>
              <a href={appPath(click.app_id)}>{click.app_id}</a>
            </Fact>
            {click.offer_id && (
              <Fact name={text.offer}>
                <a href={offerPath(click.offer_id)}>{click.offer_id}</a>
              </Fact>
            )}
            <Fact name={text.goal}>{click.goal_id}</Fact>
            <Fact name={text.user}>{click.user_id && <Name>{click.user_id}</Name>}</Fact>
            <Fact name={text.clickedAt}>{click.clicked_at !== undefined && exactTimeText(click.clicked_at)}</Fact>
            <Fact name={text.country}>{click.country && countryName(click.country)}</Fact>
            <Fact name={text.placement}>{click.placement && <Name>{click.placement}</Name>}</Fact>
          </dl>
        </>
      ) : (
        <p>{text.noClick}</p>
      )}
      <h3>{text.parameters}</h3>
      <Parameters name={text.parameters} parameters={parameters} />
    </div>
  );
}

/** Nothing where it is not known. */
const Fact = ({ name, children }: { name: string; children: ComponentChildren }) =>
  children ? (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  ) : null;
