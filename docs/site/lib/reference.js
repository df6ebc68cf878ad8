// The pages of the API reference: one for each tag of the two documents, with its operations, and the overview.

import { curl } from "./curl.js";
import { Schemas } from "./schemas.js";

const METHODS = new Set(["get", "post", "put", "patch", "delete", "head"]);
const PUBLIC = "openapi.yaml";
const DASHBOARD = "openapi-dashboard.yaml";
export const FILES = [PUBLIC, DASHBOARD];

const PLACES = { path: "In the path", query: "In the query", header: "Headers", cookie: "Cookies" };
const isLocal = ({ url }) => /127\.0\.0\.1|localhost/.test(url);
const slug = (text) => text.toLowerCase().replace(/[^a-z]+/g, "-");

export class Reference {
  constructor(documents) {
    this.documents = documents;
    this.operations = FILES.flatMap((file) => this.#operationsOf(file));
  }

  /** A tag as navigation.js names it: its page's address and title, and its operations. */
  page(name, title) {
    const isInternal = name.startsWith("dashboard:");
    const file = isInternal ? DASHBOARD : PUBLIC;
    const tag = name.replace("dashboard:", "");
    const described = this.documents.get(file).tags.find((known) => known.name === tag);
    if (!described) throw new Error(`${file} has no tag ${tag}`);
    const operations = this.operations.filter((operation) => operation.file === file && operation.tag === tag);
    const page = {
      address: `api/${isInternal ? "dashboard-" : ""}${slug(tag)}/`,
      title: title ?? tag,
      note: described.description,
      file,
      isInternal,
      operations,
    };
    for (const operation of operations) operation.page = page;
    return page;
  }

  /** Adds the views that the template shows to a page's operations. */
  complete(page) {
    const schemas = new Schemas(this.documents);
    for (const { parts } of page.operations) for (const schema of parts.schemas) schemas.count(schema);
    for (const operation of page.operations) {
      const { spec, path, servers } = operation;
      // A HEAD has the parameters of its path's GET.
      operation.like = operation.method === "HEAD" ? page.operations.find((one) => isGet(one, path)) : undefined;
      const parameters = operation.like ? [] : this.#parameters(operation, schemas);
      const body = this.#body(spec.requestBody, schemas);
      const security = this.#security(operation);
      operation.hosts = servers.filter((server) => !isLocal(server)).map(({ url }) => url);
      Object.assign(operation, { parameters, body, security, description: spec.description });
      operation.answers = this.#answers(operation, schemas);
      operation.sharedHeaders = shareHeaders(operation.answers);
      if (!operation.isWebhook) operation.curl = curl({ ...operation, path, parameters: operation.parts.parameters });
    }
    page.objects = schemas.shared();
  }

  /** The operations, in the order of the document. Those of `webhooks` are sent by Signpost and have no path. */
  #operationsOf(file) {
    const { paths, webhooks = {}, servers } = this.documents.get(file);
    const items = [
      ...Object.entries(paths),
      ...Object.entries(webhooks).map(([name, item]) => [name, { ...item, isWebhook: true }]),
    ];
    return items.flatMap(([path, item]) =>
      Object.entries(item)
        .filter(([method]) => METHODS.has(method))
        .map(([method, spec]) => {
          const shared = [...(item.parameters ?? []), ...(spec.parameters ?? [])];
          const parameters = shared.map((parameter) => this.documents.resolve(parameter).value);
          const operation = {
            file,
            path,
            spec,
            method: method.toUpperCase(),
            id: spec.operationId,
            tag: spec.tags[0],
            summary: spec.summary,
            isWebhook: item.isWebhook ?? false,
            servers: spec.servers ?? item.servers ?? servers,
          };
          operation.parts = { parameters, schemas: this.#schemasOf(spec, parameters) };
          operation.codes = this.#codesOf(spec.responses);
          return operation;
        }),
    );
  }

  #schemasOf(spec, parameters) {
    const good = Object.entries(spec.responses).filter(([status]) => status.startsWith("2"));
    const bodies = [spec.requestBody, ...good.map(([, answer]) => answer)];
    const media = bodies.flatMap((body) => Object.values(this.documents.resolve(body).value?.content ?? {}));
    return [...parameters, ...media].map(({ schema }) => schema ?? {});
  }

  /** The codes of errors by status. */
  #codesOf(responses) {
    const pairs = Object.entries(responses).map(([status, answer]) => {
      const { content = {} } = this.documents.resolve(answer).value;
      const codes = Object.values(content).flatMap(({ schema }) => this.#codes(schema));
      return [status, /^[1-3]/.test(status) ? [] : [...new Set(codes)]];
    });
    return Object.fromEntries(pairs);
  }

  #codes(schema) {
    const { value = {} } = this.documents.resolve(schema);
    const parts = [...(value.allOf ?? []), ...(value.anyOf ?? []), ...(value.oneOf ?? [])];
    const code = this.documents.resolve(value.properties?.code).value ?? {};
    return [...(code.enum ?? []), ...(code.const ? [code.const] : []), ...parts.flatMap((part) => this.#codes(part))];
  }

  #parameters({ parts }, schemas) {
    return Object.entries(PLACES).flatMap(([place, title]) => {
      const fields = parts.parameters
        .filter((parameter) => parameter.in === place)
        .map(({ name, required, description, schema, content }) => {
          const view = schemas.view(schema ?? Object.values(content ?? {})[0]?.schema);
          return { ...view, name, isRequired: required ?? false, description: description ?? view.description };
        });
      return fields.length > 0 ? [{ title, fields }] : [];
    });
  }

  #body(body, schemas) {
    const { value } = this.documents.resolve(body);
    return value && { ...value, isRequired: value.required ?? false, media: this.#media(value.content, schemas) };
  }

  #media(content = {}, schemas) {
    return Object.entries(content).map(([type, { schema, example, examples = {} }]) => {
      const given = Object.values(examples).map((one) => this.documents.resolve(one).value);
      const all = [...(example === undefined ? [] : [{ value: example }]), ...given];
      return { type, schema: schemas.view(schema), examples: all.map((one) => shown(one, type)) };
    });
  }

  #answers({ spec, codes }, schemas) {
    const inOrder = Object.entries(spec.responses).sort(([one], [other]) => rank(one) - rank(other));
    return inOrder.map(([status, answer]) => {
      const { value } = this.documents.resolve(answer);
      const headers = Object.entries(value.headers ?? {}).map(([name, header]) => ({
        name,
        key: this.documents.resolve(header).name,
      }));
      const isGood = status.startsWith("2");
      return {
        status: status === "default" ? "other" : status,
        isGood,
        description: value.description,
        headers,
        codes: codes[status],
        media: isGood ? this.#media(value.content, schemas) : [],
      };
    });
  }

  #security({ file, spec }) {
    const schemes = this.documents.get(file).components.securitySchemes;
    return spec.security.map((one) => Object.keys(one).map((key) => ({ key, ...schemes[key] })));
  }

  /** The overview of one document: its text, credentials and headers. */
  overview(file) {
    const { info, servers, components } = this.documents.get(file);
    const headers = Object.entries(this.#headersOf(file)).sort(([, one], [, other]) =>
      one.name.localeCompare(other.name),
    );
    return {
      file,
      description: info.description,
      servers,
      schemes: Object.entries(components.securitySchemes).map(([key, scheme]) => ({ key, ...scheme })),
      headers: headers.map(([key, header]) => ({ key, ...header })),
    };
  }

  /** The headers that answers share, by the name of their component, with the name that is sent. */
  #headersOf(file) {
    const found = {};
    for (const { spec } of this.operations) {
      for (const answer of Object.values(spec.responses)) {
        for (const [name, header] of Object.entries(this.documents.resolve(answer).value.headers ?? {})) {
          if (!header.$ref?.startsWith(`${file}#`)) continue;
          const { value, name: key } = this.documents.resolve(header);
          found[key] = { name, description: value.description, schema: value.schema };
        }
      }
    }
    return found;
  }

  /** The codes in `x-elsewhere`, which any operation may answer, with their statuses. */
  elsewhere() {
    return FILES.flatMap((file) =>
      Object.values(this.documents.get(file)["x-elsewhere"] ?? {}).flatMap((responses) =>
        Object.entries(this.#codesOf(responses)).flatMap(([status, codes]) => codes.map((code) => ({ code, status }))),
      ),
    );
  }
}

/** Removes the headers that all answers below 500 share from each of these answers, and returns them. */
function shareHeaders(answers) {
  const below = answers.filter(({ status }) => !status.startsWith("5"));
  if (below.length < 2) return [];
  const has = (list, { name, key }) => list.some((other) => other.name === name && other.key === key);
  const shared = below[0].headers.filter((header) => below.every(({ headers }) => has(headers, header)));
  for (const answer of below) answer.headers = answer.headers.filter((header) => !has(shared, header));
  return shared;
}

const isGet = (operation, path) => operation.method === "GET" && operation.path === path;

/** The order of statuses: `2XX` is before 300, and `default` comes last. */
const rank = (status) => (status === "default" ? 1000 : Number(status.replaceAll("X", "0")));

function shown({ summary, value }, type) {
  const isText = typeof value === "string";
  const language = isText ? (type.includes("csv") ? "csv" : "text") : "json";
  return { summary, language, text: isText ? value : JSON.stringify(value, null, 2) };
}
