// One publisher: its state above, and a section of it below. The section stands in the address.

import { useState } from "preact/hooks";
import { useCached } from "../../../shared/cache";
import type { Tagged } from "../../../shared/client";
import { Heading } from "../../../shared/components/heading";
import { Empty, Failed, Skeleton, Stale } from "../../../shared/components/states";
import { search } from "../../../shared/navigation";
import { publishersApi as api } from "../../api/publishers";
import { publisher as text, publishers } from "../../messages/publishers";
import { publisherPath, PUBLISHERS_PATH } from "../../router";
import { may } from "../../session";
import type { Publisher as Data } from "../../types/publishers";
import { Audit } from "./audit";
import { publisherKey } from "../cache-keys";
import { Facts } from "./facts";
import { Keys } from "./keys";
import { Overview } from "./overview";
import { People } from "./people";
import { StateBadge } from "./state";
import { type StateDialog, StateDialogs } from "./state-dialogs";

type Section = keyof typeof text.sections;

const SECTIONS = Object.keys(text.sections) as Section[];

const sectionIn = (query: string): Section => {
  const asked = new URLSearchParams(query).get("section");
  return SECTIONS.find((section) => section === asked) ?? "overview";
};

const sectionPath = (publisherId: string, section: Section) =>
  publisherPath(publisherId) + (section === "overview" ? "" : `?section=${section}`);

const VIEWS = { overview: Overview, people: People, keys: Keys, facts: Facts, audit: Audit };

export function Publisher({ publisherId }: { publisherId: string }) {
  const cached = useCached(publisherKey(publisherId), () => api.read(publisherId));
  const current = sectionIn(search.value);
  const { data, error } = cached;
  const View = VIEWS[current];
  return (
    <div class="settings">
      <nav class="side" aria-label={text.nav}>
        <ul>
          {SECTIONS.map((section) => (
            <li key={section}>
              <a href={sectionPath(publisherId, section)} aria-current={section === current ? "page" : undefined}>
                {text.sections[section]}
              </a>
            </li>
          ))}
          <li class="separate">
            <a href={PUBLISHERS_PATH}>{text.toList}</a>
          </li>
        </ul>
      </nav>
      <div class="section">
        {data ? (
          <>
            <Head publisher={data} section={current} reload={cached.reload} />
            <Stale of={cached} retry={cached.reload} />
            <View key={`${publisherId} ${current}`} publisher={data} />
          </>
        ) : (
          <>
            <Heading title={publisherId} within={[publishers.title]} />
            {!error ? (
              <Skeleton lines={5} />
            ) : error.status === 404 ? (
              <Empty
                title={text.notFound}
                action={
                  <a class="button" href={PUBLISHERS_PATH}>
                    {text.toList}
                  </a>
                }
              />
            ) : (
              <Failed error={error} retry={cached.reload} />
            )}
          </>
        )}
      </div>
    </div>
  );
}

interface HeadProps {
  publisher: Tagged<Data>;
  section: Section;
  reload: () => Promise<void>;
}

function Head({ publisher, section, reload }: HeadProps) {
  const [open, setOpen] = useState<StateDialog | null>(null);
  const { publisher_id: id, name, approved, max_apps: maxApps } = publisher;
  const within = section === "overview" ? [publishers.title] : [text.sections[section], publishers.title];
  return (
    <>
      <Heading
        title={name}
        within={within}
        note={
          <>
            <code>{id}</code> <StateBadge publisher={publisher} />
          </>
        }
      >
        {may("manage") && (
          <>
            <button type="button" class="button" onClick={() => setOpen("edit")}>
              {text.edit}
            </button>
            {approved ? (
              <button type="button" class="button danger-text" onClick={() => setOpen("suspend")}>
                {text.suspend}
              </button>
            ) : (
              <button type="button" class="button primary" onClick={() => setOpen("approve")}>
                {text.approve}
              </button>
            )}
          </>
        )}
      </Heading>
      {section === "overview" && (
        <p class="note state-note">
          {approved ? text.stateText.approved : text.stateText.notApproved}{" "}
          {typeof maxApps === "number" && text.maxApps(maxApps)}
        </p>
      )}
      {open && <StateDialogs dialog={open} publisher={publisher} reload={reload} onClose={() => setOpen(null)} />}
    </>
  );
}
