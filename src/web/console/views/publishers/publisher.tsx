// One publisher: its state above, and one of its sections below. The URL names the section.

import { useState } from "preact/hooks";
import { useCached } from "../../../shared/cache";
import type { Tagged } from "../../../shared/client";
import { Button, DangerButton } from "../../../shared/components/button";
import { Heading } from "../../../shared/components/heading";
import { Loaded } from "../../../shared/components/loaded";
import { NotFound } from "../../../shared/components/not-found";
import { Beside } from "../../../shared/components/side";
import { fragment, search, setSearch } from "../../../shared/navigation";
import type { KeptPublisher as Data } from "../../../shared/generated/openapi";
import { getTagged } from "../../api";
import { publisher as text, publishers } from "../../messages/publishers";
import { APPROVE_HASH, publisherPath, PUBLISHERS_PATH } from "../../router";
import { may } from "../../session";
import { Audit } from "./audit";
import { publisherKey } from "../cache-keys";
import { Facts } from "./facts";
import { Keys } from "./keys";
import { Overview } from "./overview";
import { People } from "./people";
import { mayBeApproved, StateBadge } from "./state";
import { type StateDialog, StateDialogs } from "./state-dialogs";

type Section = keyof typeof text.sections;

const SECTIONS = Object.keys(text.sections) as Section[];

const sectionIn = (query: string): Section => {
  const asked = new URLSearchParams(query).get("section");
  return SECTIONS.find((section) => section === asked) ?? "overview";
};

const sectionPath = (publisherId: string, section: Section) =>
  publisherPath(publisherId) + (section === "overview" ? "" : `?section=${section}`);

const BACK = { name: text.toList, path: PUBLISHERS_PATH };

const VIEWS = { overview: Overview, people: People, keys: Keys, facts: Facts, audit: Audit };

export function Publisher({ publisherId }: { publisherId: string }) {
  const cached = useCached(publisherKey(publisherId), () =>
    getTagged("/publishers/{publisher_id}", { publisher_id: publisherId }),
  );
  const current = sectionIn(search.value);
  const { data } = cached;
  const View = VIEWS[current];
  return (
    <Beside
      label={text.nav}
      links={SECTIONS.map((section) => ({
        name: text.sections[section],
        path: sectionPath(publisherId, section),
        isCurrent: section === current,
      }))}
      back={BACK}
    >
      {data ? (
        <Head publisher={data} section={current} reload={cached.reload} />
      ) : (
        <Heading title={publisherId} within={[publishers.title]} />
      )}
      <Loaded of={cached} missing={<NotFound title={text.notFound} back={BACK} />}>
        {(publisher) => <View key={`${publisherId} ${current}`} publisher={publisher} />}
      </Loaded>
    </Beside>
  );
}

interface HeadProps {
  publisher: Tagged<Data>;
  section: Section;
  reload: () => Promise<unknown>;
}

function Head({ publisher, section, reload }: HeadProps) {
  const [open, setOpen] = useState<StateDialog | null>(
    fragment.peek() === APPROVE_HASH && mayBeApproved(publisher) ? "approve" : null,
  );
  const close = () => {
    setOpen(null);
    // Remove the fragment, so that only the link that led here opens the dialog.
    setSearch(search.peek(), "replace", "");
  };
  const { publisher_id: id, name, approved, closed, max_apps: maxApps } = publisher;
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
        {may("manage") && !closed && (
          <>
            <Button onClick={() => setOpen("edit")}>{text.edit}</Button>
            {/* One button, so that the focus stays when its action changes. */}
            <Button
              class={approved ? "button danger-text" : "button primary"}
              onClick={() => setOpen(approved ? "suspend" : "approve")}
            >
              {approved ? text.suspend : text.approve}
            </Button>
            <DangerButton onClick={() => setOpen("close")}>{text.close}</DangerButton>
          </>
        )}
      </Heading>
      {section === "overview" && (
        <p class="note state-note">
          {closed ? text.stateText.closed : approved ? text.stateText.approved : text.stateText.notApproved}{" "}
          {!closed && typeof maxApps === "number" && text.maxApps(maxApps)}
        </p>
      )}
      {open && <StateDialogs dialog={open} publisher={publisher} reload={reload} onClose={close} />}
    </>
  );
}
