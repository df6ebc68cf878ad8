// A diagnosis in words: what is wrong first, then advice, then what is right.

import { Check, Info, Warning } from "../../../shared/components/icons";
import { findingText, tester as text } from "../../messages/tester";
import type { Finding } from "../../types";

const ORDER: Finding["severity"][] = ["problem", "advice", "ok"];
const ICONS = { problem: Warning, advice: Info, ok: Check };

export function Findings({ findings }: { findings: Finding[] }) {
  const sorted = ORDER.flatMap((severity) => findings.filter((finding) => finding.severity === severity));
  if (sorted.length === 0) return null;
  return (
    <ul class="findings" aria-label={text.diagnosis}>
      {sorted.map((finding) => {
        const Icon = ICONS[finding.severity];
        return (
          <li key={`${finding.code} ${finding.subject}`} class={`finding ${finding.severity}`}>
            <Icon /> <span class="visually-hidden">{text.severities[finding.severity]}: </span>
            <span>{findingText(finding)}</span>
          </li>
        );
      })}
    </ul>
  );
}
