// Lists what a removed member may know, with links to where each thing is replaced.

import { settings } from "../messages/settings";

const text = settings.members;

interface Props {
  intro: string;
  /** A place, its path, and what the removed member may know from there. */
  places: [name: string, path: string, known: string][];
}

export const Known = ({ intro, places }: Props) => (
  <section class="known">
    <h3>{text.known}</h3>
    <p>{intro}</p>
    <ul>
      {places.map(([name, path, known]) => (
        <li key={path}>
          <a href={path} target="_blank" rel="noreferrer noopener">
            {name}
          </a>
          : {known}
        </li>
      ))}
    </ul>
  </section>
);
