// Schemas in readable form: fields with a type, the values that they accept, and a description.

const SCALARS = new Set(["string", "integer", "number", "boolean", "null"]);
const number = (value) => value.toLocaleString("en-US", { maximumFractionDigits: 6 });

/** Merges several schemas into one. */
function merge(schemas) {
  const all = {};
  for (const { properties, required, ...rest } of schemas) {
    for (const [key, value] of Object.entries(rest)) if (value !== undefined) all[key] = value;
    if (properties) all.properties = { ...all.properties, ...properties };
    if (required) all.required = [...(all.required ?? []), ...required];
  }
  return all;
}

function range(least, most, noun) {
  if (least === undefined && most === undefined) return [];
  const unit = noun ? ` ${noun}${(most ?? least) === 1 ? "" : "s"}` : "";
  if (least === most) return [`exactly ${number(least)}${unit}`];
  if (least === undefined || (unit && least === 0)) return [`at most ${number(most)}${unit}`];
  if (most === undefined) return [`at least ${number(least)}${unit}`];
  return [`${number(least)} to ${number(most)}${unit}`];
}

function notes(schema) {
  return [
    ...range(schema.minimum, schema.maximum),
    ...(schema.exclusiveMinimum === undefined ? [] : [`above ${schema.exclusiveMinimum}`]),
    ...range(schema.minLength, schema.maxLength, "character"),
    ...range(schema.minItems, schema.maxItems, "item"),
    ...range(schema.minProperties, schema.maxProperties, "member"),
    ...(schema.format ? [schema.format] : []),
  ];
}

/** Renders the schemas of one page. An object that is used once is shown in place; others are listed below. */
export class Schemas {
  #documents;
  #uses = new Map();
  #shared = new Map();

  constructor(documents) {
    this.#documents = documents;
  }

  /** The schema without references and `allOf`. If it has a `name`, `own` is the schema under that name. */
  #flat(schema) {
    if (typeof schema !== "object" || schema === null) return {};
    if (schema.$ref) {
      const { $ref, ...beside } = schema;
      const { value, name } = this.#documents.resolve(schema);
      const flat = this.#flat(value);
      return { ...merge([flat, beside]), name: flat.name ?? name, own: flat.own ?? flat };
    }
    if (!schema.allOf) return this.#withoutNull(schema);
    const { allOf, ...rest } = schema;
    const parts = allOf.map((part) => ({ ...this.#flat(part), name: undefined, own: undefined }));
    return this.#withoutNull(merge([...parts, rest]));
  }

  #withoutNull(schema) {
    const choice = schema.anyOf ?? schema.oneOf;
    if (choice) {
      const { anyOf, oneOf, ...rest } = schema;
      const some = choice.filter(({ type }) => type !== "null");
      const isNullable = some.length < choice.length;
      // This `anyOf` only says which fields go together.
      if (schema.properties && some.every((one) => !one.$ref && !one.properties)) return rest;
      if (some.length === 1) {
        const flat = this.#flat(some[0]);
        return { ...merge([flat, rest]), name: flat.name, isNullable };
      }
      return { ...rest, variants: some, isNullable };
    }
    if (!Array.isArray(schema.type)) return schema;
    const types = schema.type.filter((type) => type !== "null");
    return { ...schema, type: types.join(" or "), isNullable: types.length < schema.type.length };
  }

  /** Counts the objects that a schema uses, before any is rendered. */
  count(schema) {
    const flat = this.#flat(schema);
    if (flat.name && isStructured(flat)) {
      const uses = (this.#uses.get(flat.name) ?? 0) + 1;
      this.#uses.set(flat.name, uses);
      if (uses > 1) return;
    }
    for (const inner of this.#inner(flat)) this.count(inner);
  }

  #inner({ properties = {}, items, additionalProperties, variants = [] }) {
    const rest = typeof additionalProperties === "object" ? [additionalProperties] : [];
    return [...Object.values(properties), ...variants, ...rest, ...(items ? [items] : [])];
  }

  /** A schema as a template shows it. */
  view(schema) {
    const flat = this.#flat(schema);
    if (flat.name && isStructured(flat) && this.#uses.get(flat.name) > 1) {
      if (!this.#shared.has(flat.name)) {
        this.#shared.set(flat.name, undefined);
        this.#shared.set(flat.name, { ...this.#inside(flat.own), name: flat.name });
      }
      return {
        type: flat.items ? "array" : "object",
        link: flat.name,
        isNullable: flat.isNullable,
        description: flat.description === flat.own.description ? undefined : flat.description,
      };
    }
    return this.#inside(flat);
  }

  #inside(flat) {
    const { description, enum: values, pattern, isNullable } = flat;
    const shown = { description, pattern, isNullable, notes: notes(flat), type: flat.type ?? "any" };
    if (flat.default !== undefined) shown.default = JSON.stringify(flat.default);
    if (flat.const !== undefined) shown.values = [flat.const];
    if (values) shown.values = values.filter((value) => value !== null);
    if (shown.values && !flat.type) shown.type = typeof shown.values[0];
    if (flat.variants) {
      shown.variants = flat.variants.map((variant) => ({ title: this.#flat(variant).name, ...this.view(variant) }));
      const types = [...new Set(shown.variants.map(({ type }) => type))];
      shown.type = types.length < 3 ? types.join(" or ") : "one of several";
      if (shown.variants.every((variant) => SCALARS.has(variant.type))) unite(shown);
    }
    if (flat.items) {
      const item = this.view(flat.items);
      const { fields, values: known, variants, link } = item;
      Object.assign(shown, { type: `array of ${plural(item.type)}`, fields, variants, link, values: known });
      shown.pattern ??= item.pattern;
      shown.description ??= item.description;
    }
    if (flat.properties) {
      shown.type = flat.type ?? "object";
      shown.fields = Object.entries(flat.properties).map(([name, property]) => ({
        name,
        isRequired: flat.required?.includes(name) ?? false,
        ...this.view(property),
      }));
    }
    if (typeof flat.additionalProperties === "object") {
      const field = { name: "any other name", isPattern: true, ...this.view(flat.additionalProperties) };
      shown.fields = [...(shown.fields ?? []), field];
      shown.type = "object";
    }
    return shown;
  }

  /** The objects that are listed below, by name. Rendering one may add others. */
  shared() {
    return [...this.#shared.values()].sort((one, other) => one.name.localeCompare(other.name));
  }
}

/** Variants that are all texts or numbers become one field with the values of all. */
function unite(shown) {
  const values = shown.variants.flatMap((variant) => variant.values ?? []);
  if (shown.variants.every((variant) => variant.values)) shown.values = values;
  shown.notes = [...shown.notes, ...new Set(shown.variants.flatMap((variant) => variant.notes))];
  delete shown.variants;
}

const plural = (type) => (SCALARS.has(type) || type === "object" ? `${type}s` : type);

const isStructured = ({ properties, variants, items, additionalProperties }) =>
  Boolean(properties || variants || typeof additionalProperties === "object" || items?.properties);
