// The member's own sessions, any of which can be ended.

import { get, remove } from "../api";
import { useCached } from "../cache";
import { confirmed } from "../change";
import { useQuestion } from "../components/form-dialog";
import { LoadedTable } from "../components/loaded";
import { buttonColumn } from "../components/row-button";
import { type Column, column } from "../components/table";
import { timeText } from "../format";
import { settings } from "../messages/settings";
import type { OwnSession } from "../types";
import { Page } from "./page";
import { browserName } from "./user-agent";

const text = settings.sessions;

export function Sessions() {
  const sessions = useCached("sessions", () => get("/sessions", {}));
  const [askToEnd, question] = useQuestion<OwnSession>(({ session_id, user_agent }) => ({
    title: text.endTitle(browserName(user_agent)),
    text: text.endText,
    button: text.end,
    dangerous: true,
    onConfirm: confirmed(() => remove("/sessions/{session_id}", { session_id }), text.ended, sessions.reload),
  }));
  const columns: Column<OwnSession>[] = [
    column("browser", text.browser, (session) => (
      <>
        {browserName(session.user_agent)} {session.is_current && <span class="tag">{text.current}</span>}
      </>
    )),
    column("in", text.signedIn, (session) => timeText(session.created_at)),
    column("seen", text.lastSeen, (session) => timeText(session.last_seen_at)),
    buttonColumn<OwnSession>({
      name: text.end,
      labelOf: (session) => text.endOf(browserName(session.user_agent)),
      isDangerous: true,
      isShown: (session) => !session.is_current,
      onClick: askToEnd,
    }),
  ];
  return (
    <Page section="sessions" note={text.intro}>
      <LoadedTable
        of={{ ...sessions, data: sessions.data?.sessions }}
        lines={3}
        empty={null}
        name={settings.sessions.browser}
        columns={columns}
        rowKey="session_id"
      />
      {question}
    </Page>
  );
}
