// The published snapshots, the changes that wait for the next one, and the catalog's size.

import type { CachedView } from "../../../shared/cache";
import { SmallButton } from "../../../shared/components/button";
import { useQuestion } from "../../../shared/components/form-dialog";
import { FactList } from "../../../shared/components/facts";
import { say } from "../../../shared/components/status";
import type { ServiceState } from "../../../shared/generated/openapi";
import { post } from "../../api";
import { attention } from "../../messages/attention";
import { service } from "../../messages/service";
import { may } from "../../session";
import { Meter } from "./meter";
import { Section } from "./section";

const text = service.publication;
/** Maximum storage of one object. */
export const MAX_BYTES = 10_000_000_000;

export function Publication({ service: cached }: { service: CachedView<ServiceState> }) {
  const [ask, question] = useQuestion(() => ({
    title: text.publishTitle,
    text: text.publishText,
    button: text.publish,
    onConfirm: async (close) => {
      await post("/refresh", {});
      close();
      say(text.published);
      await cached.reload();
    },
  }));
  const tools = may("manage") && <SmallButton onClick={ask}>{text.publish}</SmallButton>;
  return (
    <Section title={text.title} note={text.note} tools={tools} of={cached} lines={5}>
      {(data) => (
        <>
          <Standing data={data} />
          {question}
        </>
      )}
    </Section>
  );
}

function Standing({ data: { catalog, now_ms: now } }: { data: ServiceState }) {
  if (!catalog) return <p class="card-foot failed-text">{text.down}</p>;
  const { tracking_built_at_ms: tracking, listing_built_at_ms: listing, tracking_dirty_since_ms: dirty } = catalog;
  const { publishers, apps, advertisers, offers } = catalog;
  const built = (at: number | null) => (at ? text.at(at, now) : text.never);
  return (
    <FactList
      class="wide-names"
      facts={[
        [text.waiting, dirty ? text.waitingFor(Math.max(0, now - dirty)) : text.noneWaiting],
        [text.tracking, built(tracking)],
        [text.listing, built(listing)],
        [text.oldSeals, catalog.old_seals ? text.stillOld(catalog.old_seals) : text.noOldSeals],
        [text.resources, text.counts(publishers, apps, advertisers, offers)],
        [
          text.size,
          <Meter label={text.size} value={catalog.bytes} most={MAX_BYTES} text={attention.of10(catalog.bytes)} />,
        ],
      ]}
    />
  );
}
