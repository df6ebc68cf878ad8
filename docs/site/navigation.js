// The order of the pages: groups of readers, and the documents and tags of the API in each. A document that no group
// names is the last of "Understand", and a guide of `docs/guides/` the first of "Integrate".

/** `doc` is a file of the repository; `api` a tag of openapi.yaml, or `dashboard:` and a tag of openapi-dashboard.yaml. */
export const GROUPS = [
  {
    title: "Integrate",
    note: "For publishers, advertisers and their partners.",
    pages: [
      { doc: "docs/guides/APP-DEVELOPER.md", note: "From an invite to a verified callback, with a test app." },
      { doc: "docs/guides/ANALYST.md", note: "From a report key to a copy of all reports." },
      { doc: "docs/guides/ADVERTISER.md", note: "Landing URL, postback, its check, and what each answer means." },
      { doc: "docs/guides/OPERATOR.md", note: "From an empty publisher to its first reward." },
      { doc: "docs/guides/RECIPES.md", note: "Verifiers, signers, scripts that keep copies, and partners' postbacks." },
      { doc: "docs/INTEGRATING.md", note: "Offers, clicks, callbacks, conversions and reports: every rule." },
      { page: "api", title: "API overview", note: "Hosts, credentials and every operation on one page." },
      { page: "errors", title: "Error codes", note: "Every code of an error, what it means, and what to do." },
      { api: "Offers" },
      { api: "Tracking" },
      { api: "Test apps" },
      { api: "Callbacks", title: "Callbacks and alarms" },
      { api: "Reporting" },
      { api: "Rewards" },
      { api: "Users" },
    ],
  },
  {
    title: "Operate",
    note: "For whoever runs a deployment.",
    pages: [
      { doc: "docs/OPERATING.md", note: "Health, alarms, the runbook, deployment and restores." },
      { doc: "docs/guides/ONE-SERVER.md", note: "workerd, nginx, backups and upgrades on a server of your own." },
      { api: "Operator: publishers" },
      { api: "Operator: apps" },
      { api: "Operator: advertisers" },
      { api: "Operator: offers" },
      { api: "Operator: service" },
      { api: "Service", title: "Health and documents" },
    ],
  },
  {
    title: "Understand",
    note: "For contributors, and for whoever asks why.",
    pages: [
      { doc: "docs/SPEC.md", note: "The contract: resources, fields, endpoints, errors and limits." },
      { doc: "docs/DECISIONS.md", note: "How Signpost settles what the contract leaves open, and why." },
      { doc: "docs/ARCHITECTURE.md", note: "Six requests through the code, its parts and their rules." },
      { doc: "docs/PLATFORM.md", note: "What Workers, Durable Objects, KV and workerd really do." },
      { doc: "docs/PERFORMANCE.md", note: "Targets, method, results, and the targets that are missed." },
      { doc: "docs/TESTING.md", note: "Five levels of tests, and what each of them holds." },
      { doc: "docs/GLOSSARY.md", note: "The terms of the code and the documents." },
      { doc: "docs/SCOPE.md", note: "What goes beyond the contract, and when it may be removed." },
      { doc: "CHANGELOG.md", note: "Notable changes of each release." },
    ],
  },
  {
    title: "Dashboard's API",
    note: "Internal to the dashboard and the console; it may change with them.",
    pages: ["Pages", "Sign-in", "Figures", "Rewards", "Keys", "Apps", "Account"].map((tag) => ({
      api: `dashboard:${tag}`,
    })),
  },
];
