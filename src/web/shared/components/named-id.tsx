// The name of something of the catalog, with its id beside it in small type.

import { Name } from "./name";

interface Props {
  id: string;
  /** Missing where the catalog does not know it, or does not answer. */
  name: string | undefined;
}

export const NamedId = ({ id, name = id }: Props) => (
  <>
    <Name>{name}</Name>
    {name !== id && <span class="note"> {id}</span>}
  </>
);
