// The publisher and the member that are signed in; other accounts; sign-out.

import { useAction } from "../../shared/action";
import { account as text } from "../messages";
import { isAdding, leave } from "../../shared/session";
import { session, switchAccount } from "../session";
import type { Overview } from "../types";
import { focusNextHeading } from "../../shared/navigation";
import { Check, ChevronDown, Plus } from "../../shared/components/icons";
import { Popover } from "../../shared/components/popover";
import { FormError } from "../../shared/components/states";

// The most accounts that a browser is signed in to.
const MOST_ACCOUNTS = 4;

export function AccountMenu() {
  const overview = session.value;
  if (!overview) return <span class="account-space" />;
  const { publisher } = overview;
  return (
    <Popover
      name={text.menu}
      buttonClass="button quiet account"
      align="right"
      label={
        <>
          <span class="visually-hidden">{text.menu}: </span>
          <span class="account-name">{publisher.name}</span> <ChevronDown />
        </>
      }
    >
      {(close) => <Menu overview={overview} close={close} />}
    </Popover>
  );
}

function Menu({ overview, close }: { overview: Overview; close: () => void }) {
  const { member, accounts } = overview;
  const signOut = useAction(leave);
  const change = useAction(switchAccount);
  return (
    <>
      <p class="panel-note account-member">{text.signedInAs(member.name, member.role)}</p>
      {accounts.length > 1 && (
        <ul class="presets" aria-label={text.accounts}>
          {accounts.map((account) => (
            <li key={account.publisher_id}>
              <button
                type="button"
                class="preset"
                aria-current={account.is_current || undefined}
                onClick={() => {
                  if (account.is_current) close();
                  else void change.run(account.publisher_id, account.name);
                }}
              >
                {account.name} {account.is_current && <Check />}
              </button>
            </li>
          ))}
        </ul>
      )}
      <FormError error={change.error ?? signOut.error} />
      {accounts.length < MOST_ACCOUNTS && (
        <button
          type="button"
          class="preset separate"
          onClick={() => {
            focusNextHeading();
            isAdding.value = true;
          }}
        >
          {text.add} <Plus />
        </button>
      )}
      <button type="button" class="preset separate" onClick={() => void signOut.run()}>
        {accounts.length > 1 ? text.signOutOfAll : text.signOut}
      </button>
    </>
  );
}
