// How the service is doing: what is published, delivered, shed and nearly full; and what a day of an app adds up to.

import { Heading } from "../../../pages/components/heading";
import { Reconcile } from "../../components/reconcile";
import { service as text } from "../../messages/service";
import { Caps, Limits } from "./limits";
import { Endpoints } from "./endpoints";
import { Pools, Publication } from "./publication";
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
        <Limits />
        <Caps />
      </div>
      <Reconcile />
    </>
  );
}
