// The parts of the forms that filter rewards. Choices apply at once; text applies when the form is sent.

import { useEffect, useState } from "preact/hooks";
import { Button } from "../components/button";
import { Select } from "../components/field";
import { DELIVERY_NAMES, filter as text, STATE_NAMES } from "../messages/rewards";
import type { RewardState } from "../types";
import { type Conditions, DELIVERIES } from "./filter";

/** The typed filter. It follows the applied one, which the back button, a link and the clear button also change. */
export function useTypedFilter<Filter>(filter: Filter): [Filter, (typed: Filter) => void] {
  const [typed, setTyped] = useState(filter);
  useEffect(() => setTyped(filter), [JSON.stringify(filter)]);
  return [typed, setTyped];
}

interface Props {
  filter: Pick<Conditions, "state" | "delivery">;
  states: RewardState[];
  choose: (change: Partial<Pick<Conditions, "state" | "delivery">>) => void;
}

export const StateAndDelivery = ({ filter: { state, delivery }, states, choose }: Props) => (
  <>
    <Select
      label={text.state}
      value={state}
      options={states}
      nameOf={(value) => STATE_NAMES[value]}
      any={text.anyState}
      onChange={(value) => choose({ state: value })}
    />
    <Select
      label={text.delivery}
      value={delivery}
      options={DELIVERIES}
      nameOf={(value) => DELIVERY_NAMES[value]}
      any={text.anyDelivery}
      onChange={(value) => choose({ delivery: value })}
    />
  </>
);

export const ClearButton = ({ onClick }: { onClick: () => void }) => <Button onClick={onClick}>{text.clear}</Button>;
