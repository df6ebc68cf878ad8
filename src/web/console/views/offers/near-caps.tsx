// Daily caps that are nearly used up, above the list.

import { useState } from "preact/hooks";
import { useCached } from "../../../shared/cache";
import { SmallButton } from "../../../shared/components/button";
import { Warning } from "../../../shared/components/icons";
import { Name } from "../../../shared/components/name";
import { get } from "../../api";
import { nearCaps as text } from "../../messages/offers";
import { offerPath } from "../../router";
import { NEAR_CAPS_KEY } from "../cache-keys";

const SHOWN = 3;

/** Draws nothing if no cap is nearly used up. A failure takes one line, because the service's page also reports it. */
export function NearCaps() {
  const near = useCached(NEAR_CAPS_KEY, () => get("/caps", {}));
  const [isWhole, setWhole] = useState(false);
  if (!near.data) return near.error ? <p class="note near-caps-failed">{text.failed}</p> : null;
  const { caps } = near.data;
  if (caps.length === 0) return null;
  // A "show all" button would take as much room as one more row.
  const shown = isWhole || caps.length === SHOWN + 1 ? caps : caps.slice(0, SHOWN);
  return (
    <section class="banner warning" aria-label={text.title(caps.length)}>
      <Warning />
      <div class="near-caps">
        <p>
          <b>{text.title(caps.length)}.</b> {text.hint}
        </p>
        <ul>
          {shown.map(({ offer_id: id, name, kind, used, lim }) => (
            <li key={`${id} ${kind}`}>
              <a href={offerPath(id)}>
                <Name>{name ?? id}</Name>
              </a>{" "}
              <b>{text.share(used, lim)}</b>
              <span class="note">{text[kind](used, lim)}</span>
            </li>
          ))}
        </ul>
        {caps.length > shown.length && (
          <SmallButton onClick={() => setWhole(true)}>{text.all(caps.length)}</SmallButton>
        )}
      </div>
    </section>
  );
}
