// The member who is signed in, and the sign-out.

import { useAction } from "../../shared/action";
import { ChevronDown } from "../../shared/components/icons";
import { Popover } from "../../shared/components/popover";
import { FormError } from "../../shared/components/states";
import { leave } from "../../shared/session";
import { frame as text, ROLE_NAMES } from "../messages";
import { session } from "../session";

export function AccountMenu() {
  const signOut = useAction(leave);
  const member = session.value?.member;
  if (!member) return <span class="account-space" />;
  return (
    <Popover
      name={text.menu}
      buttonClass="button quiet account"
      align="right"
      label={
        <>
          <span class="visually-hidden">{text.menu}: </span>
          <span class="account-name">{member.name}</span> <ChevronDown />
        </>
      }
    >
      {() => (
        <>
          <p class="panel-note account-member">{ROLE_NAMES[member.role]}</p>
          <FormError error={signOut.error} />
          <button type="button" class="preset separate" onClick={() => void signOut.run()}>
            {text.signOut}
          </button>
        </>
      )}
    </Popover>
  );
}
