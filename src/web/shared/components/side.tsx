// A page with a list of pages next to it.

import type { ComponentChildren } from "preact";

export interface SideLink {
  name: string;
  path: string;
  isCurrent?: boolean;
}

interface Props {
  label: string;
  links: SideLink[];
  /** The list that the page belongs to. */
  back?: SideLink;
  children: ComponentChildren;
}

export const Beside = ({ label, links, back, children }: Props) => (
  <div class="settings">
    <nav class="side" aria-label={label}>
      <ul>
        {links.map(({ name, path, isCurrent }) => (
          <li key={name}>
            <a href={path} aria-current={isCurrent ? "page" : undefined}>
              {name}
            </a>
          </li>
        ))}
        {back && (
          <li class="separate">
            <a href={back.path}>{back.name}</a>
          </li>
        )}
      </ul>
    </nav>
    <div class="section">{children}</div>
  </div>
);
