// Pages and actions by name, which the search box offers while somebody types. They are found without a request.

import { fragment, setSearch } from "../shared/navigation";
import { common, frame, SECTION_NAMES } from "./messages";
import { commands as text } from "./messages/search";
import * as router from "./router";
import { may } from "./session";

/** The URL of a list says whether its dialog for a new row is open, so that a command can open the dialog. */
const NEW_HASH = "#new";
export const isCreating = () => fragment.value === NEW_HASH && may("manage");
export const setCreating = (isOpen: boolean) => setSearch(location.search, "replace", isOpen ? NEW_HASH : "");

/** The pages of the navigation, and the views that belong to each. */
export const PAGES = [
  { name: frame.attention, path: router.ATTENTION_PATH, views: ["attention"] },
  { name: frame.publishers, path: router.PUBLISHERS_PATH, views: ["publishers", "publisher", "app"] },
  { name: frame.offers, path: router.OFFERS_PATH, views: ["offers", "offer", "import"] },
  { name: frame.advertisers, path: router.ADVERTISERS_PATH, views: ["advertisers", "advertiser", "postbacks"] },
  { name: common.rewards, path: router.REWARDS_PATH, views: ["rewards", "reward"] },
  { name: frame.service, path: router.SERVICE_PATH, views: ["service"] },
  { name: common.settings, path: router.SETTINGS_PATH, views: ["settings"] },
];

const COMMANDS: { name: string; path: string; isChange?: boolean }[] = [
  ...PAGES,
  ...router.SECTIONS.map((name) => ({ name: SECTION_NAMES[name], path: `${router.SETTINGS_PATH}/${name}` })),
  { name: frame.refused, path: router.POSTBACKS_PATH },
  { name: text.publisher, path: router.PUBLISHERS_PATH + NEW_HASH, isChange: true },
  { name: text.offer, path: router.OFFERS_PATH + NEW_HASH, isChange: true },
  { name: text.advertiser, path: router.ADVERTISERS_PATH + NEW_HASH, isChange: true },
  { name: text.import, path: router.IMPORT_PATH, isChange: true },
  { name: text.held, path: `${router.ATTENTION_PATH}?kind=held`, isChange: true },
];

/** The commands whose names match: each typed word is the beginning of a word of the name. */
export function commandsOf(typed: string) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const isFound = (name: string) => words.every((word) => ` ${name.toLowerCase()}`.includes(` ${word}`));
  return words.length > 0 ? COMMANDS.filter(({ name, isChange }) => isFound(name) && (!isChange || may("manage"))) : [];
}
