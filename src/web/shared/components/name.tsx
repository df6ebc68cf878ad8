// Text by a publisher, an advertiser or a stranger, such as a name or a user id, within a line of the page's own.

import { visibleText } from "../format";

interface Props {
  children: string;
  class?: string;
}

/** It turns nothing that stands beside it, and hides nothing that it holds. */
export const Name = ({ children, class: name }: Props) => <bdi class={name}>{visibleText(children)}</bdi>;
