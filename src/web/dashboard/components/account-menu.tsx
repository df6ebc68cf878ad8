// The account menu: the publisher and the member who are signed in, other accounts, and sign-out.

import { AccountMenu as Menu } from "../../shared/account/menu";
import { useAction } from "../../shared/action";
import { Button } from "../../shared/components/button";
import { Check, Plus } from "../../shared/components/icons";
import { focusNextHeading } from "../../shared/navigation";
import { isAdding } from "../../shared/session";
import { account as text, accounts as others } from "../messages";
import { session, switchAccount } from "../session";

// Maximum accounts that a browser can be signed in to.
const MAX_ACCOUNTS = 4;

export function AccountMenu() {
  const change = useAction(switchAccount);
  if (!session.value) return <span class="account-space" />;
  const { publisher, member, accounts } = session.value;
  return (
    <Menu
      name={publisher.name}
      member={text.signedInAs(member.name, member.role)}
      signOut={accounts.length > 1 ? others.signOutOfAll : text.signOut}
      error={change.error}
      accounts={(close) =>
        accounts.length > 1 && (
          <ul class="presets" aria-label={others.list}>
            {accounts.map(({ publisher_id: id, name, is_current: isCurrent }) => (
              <li key={id}>
                <button
                  type="button"
                  class="preset"
                  aria-current={isCurrent || undefined}
                  onClick={() => (isCurrent ? close() : void change.run(id, name))}
                >
                  {name} {isCurrent && <Check />}
                </button>
              </li>
            ))}
          </ul>
        )
      }
    >
      {accounts.length < MAX_ACCOUNTS && (
        <Button
          class="preset separate"
          onClick={() => {
            focusNextHeading();
            isAdding.value = true;
          }}
        >
          {others.add} <Plus />
        </Button>
      )}
    </Menu>
  );
}
