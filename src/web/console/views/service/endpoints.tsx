// Callbacks that fail or are switched off.

import { type Column, column } from "../../../shared/components/table";
import { exactTimeText } from "../../../shared/format";
import { CallbackBadge } from "../../../shared/rewards/activity";
import { AppLink } from "../../components/links";
import { attention } from "../../messages/attention";
import { service } from "../../messages/service";
import type { AttentionItem, CallbackState } from "../../types";
import { AskEndpoints } from "./ask-endpoints";
import { OpenItems } from "./open-items";

const text = service.endpoints;

export const Endpoints = () => (
  <OpenItems title={text.title} kinds={["disabled", "failing"]} none={text.none} columns={columns}>
    <AskEndpoints />
  </OpenItems>
);

const columns = (nameOf: (appId: string) => string): Column<AttentionItem>[] => [
  column("app", text.app, ({ app_id: app }) => app !== null && <AppLink id={app} name={nameOf(app)} />),
  column("state", text.state, ({ kind }) => <CallbackBadge state={kind as CallbackState} />),
  column("since", text.since, ({ since_ms: since }) => exactTimeText(since / 1000)),
  column("reason", text.reason, ({ reason }) => <span class="wrap">{attention.reasonText(reason)}</span>),
];
