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

/** The meaning of the ids in an action's subject. */
const SUBJECTS: Record<string, Subject> = {
  publisher_put: publisher(),
  publisher_invited: publisher("people"),
  publisher_invite_withdrawn: publisher("people"),
  publisher_recovery_issued: publisher("people"),
  pub_key_issued: publisher("keys"),
  report_key_created: publisher("keys"),
  report_key_revoked: publisher("keys"),
  facts_added: publisher("facts"),
  facts_replaced: publisher("facts"),
  day_restated: publisher("facts"),
  app_put: app,
  callback_enabled: app,
  callback_tested: app,
  user_erased: app,
  rewards_replayed: app,
  replay_cancelled: app,
  rewards_approved: app,
  rewards_rejected: app,
  rewards_reversed: app,
  reward_replayed: reward,
  reward_approved: reward,
  reward_rejected: reward,
  reward_reversed: reward,
  advertiser_put: advertiser,
  token_issued: advertiser,
  token_revoked: advertiser,
  offer_put: offer,
};

function subject({ action, subject: ids, subject_id: member }: AuditEntry): ComponentChildren {
  if (!ids || member) return null;
  const [first = "", other] = ids.split(" ");
  return SUBJECTS[action]?.(first, other) || null;
}

function detail(entry: AuditEntry): string | null {
  const [, other] = entry.subject?.split(" ") ?? [];
  const words = [other && OTHER_IDS[entry.action]?.(other), operatorDetail(entry)];
  return words.filter(Boolean).join(", ") || null;
}

const WORDS: AuditWords = { intro: text.intro, action: operatorAction, subject, detail };

export const AuditOfOperator = () => <AuditWith words={WORDS} />;
