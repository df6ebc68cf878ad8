// The state of the service: publication, delivery, overload and limits; totals that are missing from the reports; and
// the comparison of an app's day.

import { Heading } from "../../../shared/components/heading";
import { get } from "../../api";
import { Reconcile } from "../../components/reconcile";
import { service as text } from "../../messages/service";
import { SERVICE_POLL_MILLISECONDS, usePolled } from "../../poll";
import { Endpoints } from "./endpoints";
import { Caps, Limits, Unsent } from "./limits";
import { Pools } from "./pools";
import { Publication } from "./publication";
import { Instances, OldRewards } from "./reported";

export function Service() {
  const service = usePolled("service", (isPoll) => get("/service", {}, isPoll), undefined, SERVICE_POLL_MILLISECONDS);
  return (
    <>
      <Heading title={text.title} note={text.note} />
      <div class="columns service">
        <div>
          <Publication service={service} />
          <Instances service={service} />
        </div>
        <Pools service={service} />
      </div>
      <Endpoints />
      <Unsent />
      <div class="columns service">
        <Limits />
        <Caps />
      </div>
      <OldRewards service={service} />
      <Reconcile />
    </>
  );
}
