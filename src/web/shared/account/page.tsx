// One section of the settings, under its heading.

import type { ComponentChildren } from "preact";
import { Heading } from "../components/heading";
import { type Section, SECTION_NAMES } from "../messages";
import { settings as text } from "../messages/settings";

interface PageProps {
  section: Section;
  note?: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
}

export function Page({ section, note, actions, children }: PageProps) {
  return (
    <>
      <Heading title={SECTION_NAMES[section]} within={[text.title]} note={note}>
        {actions}
      </Heading>
      {children}
    </>
  );
}
