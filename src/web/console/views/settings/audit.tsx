// The operator's audit: its own actions in words, with links to what they concern.

import type { ComponentChildren } from "preact";
import { AuditWith, type AuditWords } from "../../../shared/account/audit";
import { ShortId } from "../../../shared/rewards/badges";
import type { AuditEntry } from "../../../shared/types";
import { isAppId, isId } from "../../ids";
import { audit as text, operatorAction, operatorDetail, OTHER_IDS } from "../../messages/audit";
import { advertiserPath, appPath, offerPath, publisherPath, rewardPath } from "../../router";

type Subject = (id: string, other: string | undefined) => ComponentChildren;

const link = (href: string, name: string) => <a href={href}>{name}</a>;

const publisher =
  (section?: string): Subject =>
  (id) =>
    isId(id) && link(publisherPath(id) + (section ? `?section=${section}` : ""), text.publisher(id));
const app: Subject = (id) => isAppId(id) && link(appPath(id), text.app(id));
const advertiser: Subject = (id) => isId(id) && link(advertiserPath(id), text.advertiser(id));
const offer: Subject = (id) => isId(id) && link(offerPath(id), text.offer(id));
const reward: Subject = (appId, id) =>
  isAppId(appId) &&
  id && (
    <>
      <a href={rewardPath(appId, id)}>
        {text.reward} <ShortId id={id} />
      </a>
      <span class="cell-second">{app(appId, undefined)}</span>
    </>
  );

/** The meaning of the ids in the subjects of actions. */
const SUBJECTS: [Subject, string[]][] = [
  [publisher(), ["publisher_put"]],
  [publisher("people"), ["publisher_invited", "publisher_invite_withdrawn", "publisher_recovery_issued"]],
  [publisher("keys"), ["pub_key_issued", "report_key_created", "report_key_revoked"]],
  [publisher("facts"), ["facts_added", "facts_replaced", "day_restated"]],
  [app, ["app_put", "callback_enabled", "callback_tested", "user_erased", "rewards_replayed", "replay_cancelled"]],
  [app, ["rewards_approved", "rewards_rejected", "rewards_reversed"]],
  [reward, ["reward_replayed", "reward_approved", "reward_rejected", "reward_reversed"]],
  [advertiser, ["advertiser_put", "token_issued", "token_revoked"]],
  [offer, ["offer_put"]],
];

function subject({ action, subject: ids, subject_id: member }: AuditEntry): ComponentChildren {
  if (!ids || member) return null;
  const [first = "", other] = ids.split(" ");
  return SUBJECTS.find(([, actions]) => actions.includes(action))?.[0](first, other) || null;
}

function detail(entry: AuditEntry): string | null {
  const [, other] = entry.subject?.split(" ") ?? [];
  const words = [other && OTHER_IDS[entry.action]?.(other), operatorDetail(entry)];
  return words.filter(Boolean).join(", ") || null;
}

const WORDS: AuditWords = { intro: text.intro, action: operatorAction, subject, detail };

export const AuditOfOperator = () => <AuditWith words={WORDS} />;
