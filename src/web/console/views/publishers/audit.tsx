// The audit log of a publisher's account.

import { AuditEntries } from "../../../shared/account/audit";
import { publishersApi as api } from "../../api/publishers";
import { audit as text } from "../../messages/publishers";
import type { Publisher } from "../../types/publishers";

export const Audit = ({ publisher: { publisher_id: id } }: { publisher: Publisher }) => (
  <section aria-labelledby="audit-title">
    <div class="section-head">
      <div>
        <h2 id="audit-title">{text.title}</h2>
        <p class="note">{text.intro}</p>
      </div>
    </div>
    <AuditEntries cacheKey={`audit ${id}`} load={(cursor) => api.audit(id, cursor)} />
  </section>
);
