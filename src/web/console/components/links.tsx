// Links to resources that have a name.

import { Name } from "../../shared/components/name";
import { appPath } from "../router";

export const AppLink = ({ id, name }: { id: string; name: string }) => (
  <a href={appPath(id)}>
    <Name>{name}</Name>
  </a>
);

/** A link with the ID below the name. */
export const NamedLink = ({ path, id, name }: { path: string; id: string; name: string }) => (
  <div class="offer">
    <a href={path}>
      <Name>{name}</Name>
    </a>
    <span class="cell-second">{id}</span>
  </div>
);
