// A member's name, followed by a part of the id if another member of the list has the same name.

export interface Named {
  name: string;
  id: string | null;
}

/** The names that belong to more than one id. A person without an id, such as the operator, counts as another id. */
export function sharedNames(people: Named[]): Set<string> {
  const first = new Map<string, string | null>();
  const shared = new Set<string>();
  for (const { name, id } of people) {
    if (!first.has(name)) first.set(name, id);
    else if (first.get(name) !== id) shared.add(name);
  }
  return shared;
}

export function Person({ name, id, shared }: Named & { shared: Set<string> }) {
  return (
    <>
      {name}
      {id && shared.has(name) && <code class="cell-id">{id.slice(0, 6)}</code>}
    </>
  );
}
