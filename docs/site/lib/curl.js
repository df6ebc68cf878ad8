// A call of an operation as a command, with the examples of its parameters and of its body.

const QUOTED = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** Credentials are named like shell variables, because no example value would give access. */
const CREDENTIALS = {
  AppId: ["App-Id", "10000001"],
  PubKey: ["Pub-Key", "$PUB_KEY"],
  ReportKey: ["X-Api-Key", "$REPORT_KEY"],
  RewardsKey: ["X-Api-Key", "$REWARDS_KEY"],
  PrivacyKey: ["X-Api-Key", "$PRIVACY_KEY"],
  OperatorToken: ["Authorization", "Bearer $OPERATOR_TOKEN"],
  MetricsToken: ["Authorization", "Bearer $METRICS_TOKEN"],
};

const exampleOf = ({ example, examples, schema }) =>
  example ?? Object.values(examples ?? {})[0]?.value ?? schema?.example ?? schema?.examples?.[0];

function address({ path, hosts, parameters, security }) {
  const given = new Map(parameters.map((parameter) => [parameter.name, exampleOf(parameter)]));
  const filled = path.replace(/\{(\w+)\}/g, (all, name) => given.get(name) ?? all);
  const asked = parameters.filter((one) => one.in === "query" && (one.required || exampleOf(one) !== undefined));
  const pairs = asked.map((one) => `${one.name}=${encodeURIComponent(String(exampleOf(one) ?? "…"))}`);
  const takesToken = security.some((scheme) => scheme.in === "query");
  const query = [...pairs, ...(takesToken ? ["token=$TOKEN"] : [])].join("&");
  return `${hosts[0] ?? "http://localhost:8787"}${filled}${query && `?${query}`}`;
}

/** Returns the command, or undefined for a call that only the dashboard's pages make. */
export function curl({ method, path, hosts, parameters, security: choices, body, isInternal, file }) {
  if (isInternal || file !== "openapi.yaml") return undefined;
  const security = choices[0] ?? [];
  const headers = security.flatMap(({ key }) => (CREDENTIALS[key] ? [CREDENTIALS[key]] : []));
  for (const one of parameters) {
    if (one.in === "header" && one.required) headers.push([one.name, String(exampleOf(one) ?? "…")]);
  }
  const media = body?.media.find(({ examples }) => examples.length > 0);
  if (media) headers.push(["Content-Type", media.type]);
  const url = address({ path, hosts, parameters, security });
  const lines = [`curl${method === "GET" ? "" : method === "HEAD" ? " -I" : ` -X ${method}`} "${url}"`];
  lines.push(...headers.map(([name, value]) => `-H "${name}: ${value.replaceAll('"', '\\"')}"`));
  if (media) lines.push(`--data-binary ${QUOTED(compact(media.examples[0]))}`);
  return lines.join(" \\\n  ");
}

/** A short body on one line. */
function compact({ text, language }) {
  if (language !== "json") return text;
  const line = JSON.stringify(JSON.parse(text));
  return line.length < 80 ? line : text;
}
