// Decides where a link of a document leads on the site: to another page, to the repository, or nowhere.

import { existsSync } from "node:fs";
import { join, posix } from "node:path";

/** A link with a scheme or a host leads out of the repository. */
const OUTSIDE = /^([a-z]+:|\/\/)/i;
/** The API's documents are read on the site; its overview offers the files. */
const RENDERED = { "openapi.yaml": { address: "api/" }, "openapi-dashboard.yaml": { address: "api/" } };

/** The address of a repository's file on the web, for editing or for reading. */
export const editUrl = (base, file) => base && `${base.replace(/\/$/, "")}/${file}`;
const readUrl = (base, file) => editUrl(base?.replace("/edit/", "/blob/"), file);

export class Links {
  /** `pages` has the address and title of each document by its path; `base` is DOCS_EDIT_URL, if it is set. */
  constructor(root, pages, base) {
    this.root = root;
    this.pages = { ...RENDERED, ...pages };
    this.base = base;
  }

  /**
   * `from` is a document's path and address. Returns `href`, with the `title` of a page; or the `path` of a file that only
   * the repository has. Fails if it is not there.
   */
  resolve(href, from) {
    if (OUTSIDE.test(href) || href.startsWith("#")) return { href };
    const [target, anchor] = href.split("#");
    const path = posix.join(posix.dirname(from.path), target).replace(/\/$/, "");
    const page = this.pages[path];
    if (page) return { href: relative(from.address, page.address) + (anchor ? `#${anchor}` : ""), title: page.title };
    if (path.startsWith("..") || !existsSync(join(this.root, path))) {
      throw new Error(`${from.path}: ${href} leads to nothing`);
    }
    const url = readUrl(this.base, path);
    return url ? { href: url + (anchor ? `#${anchor}` : "") } : { path };
  }
}

/** The site has no fixed place, so pages use relative addresses. Addresses are folders. */
export const relative = (from, to) => "../".repeat(from.split("/").length - 1) + to || "./";
