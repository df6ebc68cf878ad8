// The name of a resource of the catalog, with its id next to it in small type.

import { Name } from "./name";

interface Props {
  id: string;
  /** Missing if the catalog does not know the name, or does not answer. */
  name: string | undefined;
}

export const NamedId = ({ id, name = id }: Props) => (
  <>
    <Name>{name}</Name>
    {name !== id && <span class="note"> {id}</span>}
  </>
);
