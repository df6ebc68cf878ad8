// Settings: sections beside a list of them. A section that the role does not have is not listed; its link is refused.

import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import { useCached } from "../../cache";
import { Failed, Refused, Skeleton } from "../../components/states";
import { SECTION_NAMES, settings as text } from "../../messages";
import { navigate, type Section, SECTIONS, settingsPath } from "../../router";
import { loadOverview, may, OVERVIEW_KEY } from "../../session";
import { Audit } from "./audit";
import { Keys } from "./keys";
import { Members } from "./members";
import { Page } from "./page";
import { Passkeys } from "./passkeys";
import { PubKey } from "./pub-key";
import { Sessions } from "./sessions";

const VIEWS: Record<Section, FunctionComponent> = {
  keys: Keys,
  pub_key: PubKey,
  members: Members,
  passkeys: Passkeys,
  sessions: Sessions,
  audit: Audit,
};

export function Settings({ section }: { section: Section | null }) {
  const { data, error, reload } = useCached(OVERVIEW_KEY, loadOverview);
  const role = data?.member.role;
  const allowed = role ? SECTIONS.filter((name) => may(role, name)) : SECTIONS;
  const open = section ?? allowed[0]!;
  const View = VIEWS[open];
  useOpenSection(section, role === undefined ? null : open);
  return (
    <div class="settings">
      <nav class="side" aria-label={text.nav}>
        <ul>
          {allowed.map((name) => (
            <li key={name}>
              <a href={settingsPath(name)} aria-current={name === open ? "page" : undefined}>
                {SECTION_NAMES[name]}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="section">
        {error && !data ? (
          <Page section={open}>
            <Failed error={error} retry={reload} />
          </Page>
        ) : !role ? (
          <Page section={open}>
            <Skeleton lines={5} />
          </Page>
        ) : may(role, open) ? (
          <View />
        ) : (
          <Page section={open}>
            <Refused />
          </Page>
        )}
      </div>
    </div>
  );
}

/** `/dashboard/settings` leads to the first section of the role. */
function useOpenSection(asked: Section | null, open: Section | null) {
  useEffect(() => {
    if (asked === null && open !== null) navigate(settingsPath(open), "replace");
  }, [asked, open]);
}
