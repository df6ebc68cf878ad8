// How the service is doing: what is published, delivered, shed and nearly full; what is not in the reports; and what a day of an
// app adds up to.

import { Heading } from "../../../pages/components/heading";
import { Reconcile } from "../../components/reconcile";
import { service as text } from "../../messages/service";
import { Endpoints } from "./endpoints";
import { Caps, Limits, Unsent } from "./limits";
import { Pools } from "./pools";
import { Publication } from "./publication";
import { Instances, OldRewards } from "./reported";
import { useService } from "./use-service";

export function Service() {
  const service = useService();
  return (
    <>
      <Heading title={text.title} note={text.note} />
      <div class="columns service">
        <Publication service={service} />
        <Pools service={service} />
      </div>
      <Endpoints />
      <div class="columns service">
        <Unsent />
        <Instances service={service} />
      </div>
      <div class="columns service">
        <Limits />
        <Caps />
      </div>
      <OldRewards service={service} />
      <Reconcile />
    </>
  );
}
