// The menu of the account in the header, with the sign-out.

import { session } from "#session";
import type { ComponentChildren } from "preact";
import { useAction } from "../action";
import { ChevronDown } from "../components/icons";
import { Popover } from "../components/popover";
import { FormError } from "../components/states";
import { account as text } from "../messages/common";
import { leave } from "../session";

/** The release, which the build sets. */
declare const VERSION: string;

interface Props {
  name: string;
  /** The name and role of the member who is signed in. */
  member: string;
  signOut?: string;
  /** The error of another change in the menu. */
  error?: unknown;
  accounts?: (close: () => void) => ComponentChildren;
  /** Shown above the sign-out. */
  children?: ComponentChildren;
}

export function AccountMenu({ name, member, signOut = text.signOut, error, accounts, children }: Props) {
  const leaving = useAction(leave);
  const docs = session.value?.docs_url;
  return (
    <Popover
      name={text.menu}
      buttonClass="button quiet account"
      align="right"
      label={
        <>
          <span class="visually-hidden">{text.menu}: </span>
          <span class="account-name">{name}</span> <ChevronDown />
        </>
      }
    >
      {(close) => (
        <>
          <p class="panel-note account-member">{member}</p>
          {accounts?.(close)}
          <FormError error={error ?? leaving.error} />
          {children}
          {docs && (
            <a class="preset separate" href={docs} target="_blank" rel="noreferrer noopener">
              {text.documentation}
            </a>
          )}
          <button type="button" class="preset separate" onClick={() => void leaving.run()}>
            {signOut}
          </button>
          <p class="panel-note">{text.release(VERSION)}</p>
        </>
      )}
    </Popover>
  );
}
