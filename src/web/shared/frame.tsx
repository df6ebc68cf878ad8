// The frame of every view: header with navigation, the view, and the account menu; or the sign-in view in its place.

import { SESSION_KEY } from "#session";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { SignIn } from "./account/sign-in";
import { refresh } from "./cache";
import { LinkButton } from "./components/button";
import { Confirm } from "./components/form-dialog";
import { Heading } from "./components/heading";
import { Mark } from "./components/icons";
import { Empty } from "./components/states";
import { Status } from "./components/status";
import { common } from "./messages";
import { leaving, ROOT } from "./navigation";
import { generation, invite, isAdding, isSignedOut, kept } from "./session";

// If a page was hidden for longer than this, its session is loaded again when it becomes visible.
const REFRESH_AFTER_MILLISECONDS = 60_000;

function useRefreshWhenSeen() {
  useEffect(() => {
    let hiddenAt = 0;
    const onChange = () => {
      if (document.hidden) hiddenAt = Date.now();
      else if (Date.now() - hiddenAt > REFRESH_AFTER_MILLISECONDS && !isSignedOut.peek()) void refresh(SESSION_KEY);
    };
    document.addEventListener("visibilitychange", onChange);
    return () => document.removeEventListener("visibilitychange", onChange);
  }, []);
}

interface NavigationLink {
  href: string;
  name: string;
  isCurrent: boolean;
  beside?: ComponentChildren;
}

/** The links of a site. The link to the open view is marked as current. */
export const linksTo =
  <View,>(open: View) =>
  (href: string, name: string, ...views: View[]): NavigationLink => ({ href, name, isCurrent: views.includes(open) });

interface Props {
  links: NavigationLink[];
  /** The end of the header. */
  menu: ComponentChildren;
  /** Loads views ahead of a click. */
  onNear?: () => void;
  children: ComponentChildren;
}

export function Site(props: Props) {
  useRefreshWhenSeen();
  const isCovered = isSignedOut.value || isAdding.value || invite.value !== null;
  return (
    <>
      {(!isCovered || kept.value) && <Frame key={generation.value} {...props} isCovered={isCovered} />}
      {isCovered && <SignIn />}
      <Status />
    </>
  );
}

/** Leaves the URL as it is, because its fragment may be the state of a view. */
function skipToContent(event: Event) {
  event.preventDefault();
  document.getElementById("content")?.focus();
}

function Frame({ links, menu, onNear, children, isCovered }: Props & { isCovered: boolean }) {
  // Set while unsaved changes would be given up.
  const leave = leaving.value;
  useEffect(() => {
    const place = kept.peek();
    const account = generation.peek();
    if (!isCovered || !place) return;
    return () => {
      if (account !== generation.peek()) return;
      document.title = place.title;
      scrollTo(0, place.scrolled);
      (place.focused as HTMLElement | null)?.focus({ preventScroll: true });
    };
  }, [isCovered]);
  return (
    <div class="frame" hidden={isCovered}>
      <header class="top">
        <a class="skip" href="#content" onClick={skipToContent}>
          {common.skip}
        </a>
        <div class="top-row">
          <a class="brand" href={ROOT}>
            <Mark /> {common.product}
          </a>
          <nav aria-label={common.navigation} onPointerOver={onNear}>
            <ul>
              {links.map(({ href, name, isCurrent, beside }) => (
                <li key={href}>
                  <a href={href} aria-current={isCurrent ? "page" : undefined}>
                    {name}
                    {beside}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
          {menu}
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      {leave && (
        <Confirm
          title={common.leaveTitle}
          text={common.leaveText}
          button={common.leave}
          cancel={common.stay}
          dangerous
          onConfirm={async () => leave()}
          onClose={() => (leaving.value = null)}
        />
      )}
    </div>
  );
}

/** Shown if the URL belongs to no view. */
export function Missing() {
  return (
    <>
      <Heading title={common.notFoundTitle} />
      <Empty title={common.notFound} action={<LinkButton href={ROOT}>{common.toOverview}</LinkButton>} />
    </>
  );
}
