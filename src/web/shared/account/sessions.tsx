// The member's own sessions, any of which can be ended.

import { useState } from "preact/hooks";
import { accountApi as api } from "../account-api";
import { useCached } from "../cache";
import { Confirm } from "../components/dialog";
import { focusHeading } from "../components/heading";
import { Failed, Stale } from "../components/states";
import { say } from "../components/status";
import { type Column, Table, TableSkeleton } from "../components/table";
import { timeText } from "../format";
import { settings } from "../messages";
import { withVerification } from "../passkeys";
import type { Session } from "../types";
import { Page } from "./page";
import { browserName } from "./user-agent";

const text = settings.sessions;

export function Sessions() {
  const sessions = useCached("sessions", api.sessions);
  const [ending, setEnding] = useState<Session | null>(null);
  const columns: Column<Session>[] = [
    {
      key: "browser",
      header: text.browser,
      cell: (session) => (
        <>
          {browserName(session.user_agent)} {session.is_current && <span class="tag">{text.current}</span>}
        </>
      ),
    },
    { key: "in", header: text.signedIn, cell: (session) => timeText(session.created_at) },
    { key: "seen", header: text.lastSeen, cell: (session) => timeText(session.last_seen_at) },
    {
      key: "end",
      header: text.end,
      isHeaderHidden: true,
      isNumber: true,
      cell: (session) =>
        session.is_current ? null : (
          <button
            type="button"
            class="button small danger-text"
            aria-label={text.endOf(browserName(session.user_agent))}
            onClick={() => setEnding(session)}
          >
            {text.end}
          </button>
        ),
    },
  ];
  return (
    <Page section="sessions" note={text.intro}>
      <Stale of={sessions} retry={sessions.reload} />
      {sessions.data ? (
        <div class="card table-card">
          <Table
            stacks
            name={settings.sessions.browser}
            columns={columns}
            rows={sessions.data.sessions}
            rowKey={(session) => session.session_id}
          />
        </div>
      ) : sessions.error ? (
        <Failed error={sessions.error} retry={sessions.reload} />
      ) : (
        <div class="card">
          <TableSkeleton rows={3} />
        </div>
      )}
      {ending && (
        <Confirm
          title={text.endTitle(browserName(ending.user_agent))}
          text={text.endText}
          button={text.end}
          dangerous
          onConfirm={async () => {
            await withVerification(() => api.endSession(ending.session_id));
            setEnding(null);
            say(text.ended);
            await sessions.reload();
            focusHeading();
          }}
          onClose={() => setEnding(null)}
        />
      )}
    </Page>
  );
}
