// Text written by a publisher, an advertiser or a stranger, such as a name or a user id, within a line of the page's
// own text.

import { visibleText } from "../format";

interface Props {
  children: string;
  class?: string;
}

/** The text cannot change the direction of the text next to it, and its invisible characters are shown. */
export const Name = ({ children, class: name }: Props) => <bdi class={name}>{visibleText(children)}</bdi>;
