// Writes the clients' types, from `openapi.yaml`: `node clients/types.mjs`. With `--check` it writes nothing and fails if a
// file is not current. openapi-typescript reads the document; the schemas that a client needs are taken from its tree.

import { readFile, writeFile } from "node:fs/promises";
import openapiTS from "openapi-typescript";
import ts from "typescript";
import { pythonTypes } from "./python-types.mjs";

const DOCUMENT = new URL("../openapi.yaml", import.meta.url);
const TYPESCRIPT = new URL("typescript/src/generated/types.ts", import.meta.url);
const PYTHON = new URL("python/src/signpost_client/types.py", import.meta.url);

/** The schemas that the clients send and read. The schemas that these refer to are added. */
const SCHEMAS = [
  "OffersFilter",
  "OffersPage",
  "ReportQuery",
  "Report",
  "DayChanges",
  "ChangedRewards",
  "PostbackStatus",
  "Conversion",
  "CallbackEvent",
];

const { factory } = ts;

/** Tells integers from other numbers, which Python reads as another type. */
function keepIntegers(schema) {
  const types = [schema.type].flat();
  if (!types.includes("integer")) return undefined;
  const integer = factory.createTypeReferenceNode("Integer");
  const absent = factory.createLiteralTypeNode(factory.createNull());
  return types.includes("null") ? factory.createUnionTypeNode([integer, absent]) : integer;
}

/** The schema that `components["schemas"]["Name"]` refers to. */
export function referred(node) {
  if (!ts.isIndexedAccessTypeNode(node)) return undefined;
  return node.indexType.literal.text;
}

/** The members of `components.schemas`, by name. */
function schemasOf(nodes) {
  const components = nodes.find((node) => node.name?.text === "components");
  const schemas = components.members.find((member) => member.name.text === "schemas");
  return new Map(schemas.type.members.map((member) => [member.name.text, member]));
}

/** The needed schemas, each after those that it refers to. */
function needed(schemas) {
  const inOrder = new Map();
  const visit = (name) => {
    if (inOrder.has(name)) return;
    const walk = (node) => {
      const other = referred(node);
      if (other) visit(other);
      else ts.forEachChild(node, walk);
    };
    walk(schemas.get(name).type);
    inOrder.set(name, schemas.get(name));
  };
  SCHEMAS.forEach(visit);
  return inOrder;
}

/** The description of a member, as openapi-typescript put it into a comment. */
export function description(member) {
  const [comment] = ts.getSyntheticLeadingComments(member) ?? [];
  const lines = (comment?.text ?? "").split("\n").map((line) => line.replace(/^\s*\* ?/, "").trim());
  const [, text] = lines.join("\n").split("@description ");
  return text?.includes("added by openapi-typescript") ? undefined : text?.split("\n@")[0].trim();
}

function typescriptTypes(schemas) {
  const printer = ts.createPrinter();
  const file = ts.createSourceFile("types.ts", "", ts.ScriptTarget.ES2022);
  const types = [...schemas].map(([name, member]) => {
    const text = printer
      .printNode(ts.EmitHint.Unspecified, member.type, file)
      .replace(/components\["schemas"\]\["(\w+)"\]/g, "$1")
      // The generated types state these already.
      .replace(/\n *\* (@(enum|constant|default)|@description discriminator)[^\n]*/g, "")
      .replace(/\/\*\* @(enum|constant|default)[^\n]*\n *|\/\*\*\n *\*\/\n */g, "")
      .replaceAll("@description ", "")
      .replace(/\/\*\*\n *\* ([^\n]*)\n *\*\//g, "/** $1 */");
    const about = description(member)?.replaceAll("\n", " ");
    return `${about ? `/** ${about} */\n` : ""}export type ${name} = ${text};\n`;
  });
  const head =
    "// The types of Signpost's API, from `openapi.yaml`. Do not edit: `make client-types` writes this file.\n\n" +
    "/** A number without a fraction. */\nexport type Integer = number;\n";
  return [head, ...types].join("\n");
}

const schemas = needed(schemasOf(await openapiTS(DOCUMENT, { defaultNonNullable: false, transform: keepIntegers })));
for (const [file, text] of [
  [TYPESCRIPT, typescriptTypes(schemas)],
  [PYTHON, pythonTypes(schemas, { referred, description })],
]) {
  if (!process.argv.includes("--check")) await writeFile(file, text);
  else if ((await readFile(file, "utf8")) !== text) {
    console.error(`${file.pathname} is not what openapi.yaml says: run make client-types`);
    process.exitCode = 1;
  }
}
