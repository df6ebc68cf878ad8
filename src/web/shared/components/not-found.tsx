// The state of a page that does not exist.

import { LinkButton } from "./button";
import type { SideLink } from "./side";
import { Empty } from "./states";

/** Leads to the list that the page would belong to. */
export const NotFound = ({ title, back }: { title: string; back: SideLink }) => (
  <Empty title={title} action={<LinkButton href={back.path}>{back.name}</LinkButton>} />
);
