// The notice that a receiver told us to stop its callback: nothing is sent until somebody switches it on again.

import { useState } from "preact/hooks";
import { useAction } from "../../../shared/action";
import { post } from "../../api";
import { SmallRun } from "../../../shared/components/button";
import { focusHeading } from "../../../shared/components/heading";
import { Warning } from "../../../shared/components/icons";
import { FormError } from "../../../shared/components/states";
import { say } from "../../../shared/components/status";
import { timeText } from "../../../shared/format";
import { appForm } from "../../messages/apps";
import { useActivity } from "../use-activity";

const text = appForm.callback.switchedOff;

export function SwitchedOff({ appId }: { appId: string }) {
  const { data, reload } = useActivity();
  const endpoint = data?.apps.find(({ app_id }) => app_id === appId)?.endpoint;
  // The activity shows a change only some seconds later, so a callback that was enabled here is remembered.
  const [mended, setMended] = useState<number | null>();
  const enable = useAction(async () => {
    await post("/apps/{app_id}/callback/enable", { app_id: appId });
    setMended(endpoint!.since);
    say(text.done);
    focusHeading();
    await reload();
  });
  if (endpoint?.state !== "disabled" || endpoint.since === mended) return null;
  return (
    <div class="banner warning">
      <Warning />
      <p>
        <b>{endpoint.since === null ? text.title : text.since(timeText(endpoint.since))}</b> {text.text}
      </p>
      <SmallRun of={enable}>{text.enable}</SmallRun>
      <FormError error={enable.error} />
    </div>
  );
}
