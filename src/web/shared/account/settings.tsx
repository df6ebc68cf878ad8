// Settings: sections next to a list of them. A section that the role does not have is not listed, and its link is
// refused.

import { loadSession, SESSION_KEY } from "#session";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import { useCached } from "../cache";
import { Beside } from "../components/side";
import { Failed, Refused, Skeleton } from "../components/states";
import { type Section, SECTION_NAMES } from "../messages";
import { settings as text } from "../messages/settings";
import { navigate, ROOT } from "../navigation";
import type { Role } from "../types";
import { Page } from "./page";

interface Props {
  /** The section that the URL names. */
  asked: Section | null;
  views: Partial<Record<Section, FunctionComponent>>;
  may: (section: Section) => boolean;
}

export const settingsPath = (section: Section) => `${ROOT}/settings/${section}`;

export function Settings({ asked, views, may }: Props) {
  const { data, error, reload } = useCached<{ member: { role: Role } }>(SESSION_KEY, loadSession);
  const role = data?.member.role;
  const sections = Object.keys(views) as Section[];
  const allowed = role ? sections.filter(may) : sections;
  const open = asked ?? allowed[0]!;
  const View = views[open]!;
  const isKnown = role !== undefined;
  useEffect(() => {
    if (asked === null && isKnown) navigate(settingsPath(open), "replace");
  }, [asked, isKnown, open]);
  return (
    <Beside
      label={text.nav}
      links={allowed.map((name) => ({ name: SECTION_NAMES[name], path: settingsPath(name), isCurrent: name === open }))}
    >
      {role && may(open) ? (
        <View />
      ) : (
        <Page section={open}>
          {role ? <Refused /> : error ? <Failed error={error} retry={reload} /> : <Skeleton lines={5} />}
        </Page>
      )}
    </Beside>
  );
}
