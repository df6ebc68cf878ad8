// The text at the top of a test app: what a test app is, and the steps from its callback to a reward.

import { Check } from "../../../shared/components/icons";
import { Card } from "../../../shared/components/part";
import { overview } from "../../messages";
import { testLoop as text } from "../../messages/apps";
import { offersPath, REWARDS_PATH } from "../../router";
import type { App } from "../../types";

export function TestLoop({ app: { app_id: id, callback } }: { app: App }) {
  const hrefs = [null, offersPath(id), null, `${REWARDS_PATH}?app=${id}`];
  // The callback is the only step whose completion this page can see.
  const current = callback ? 1 : 0;
  return (
    <Card title={text.title} intro={text.intro}>
      <div class="checklist">
        <ol class="steps wizard">
          {text.steps.map(({ step, link }, index) => {
            const isDone = index < current;
            const href = hrefs[index];
            return (
              <li key={step} class={isDone ? "done" : "open"} aria-current={index === current ? "step" : undefined}>
                <span class="step-mark">{isDone ? <Check /> : index + 1}</span>
                <span>
                  {step} {href && <a href={href}>{link}</a>}
                  {isDone && <span class="visually-hidden">, {overview.stepDone}</span>}
                </span>
              </li>
            );
          })}
        </ol>
      </div>
    </Card>
  );
}
