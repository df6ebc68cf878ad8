// Python's types from openapi-typescript's tree, for `types.mjs`: an object is a TypedDict, a closed list a Literal.

import ts from "typescript";

const HEAD = `"""The types of Signpost's API, from \`openapi.yaml\`. Do not edit: \`make client-types\` writes this file."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, List, Literal, TypedDict, Union

if TYPE_CHECKING:
    # Python 3.10 has no NotRequired, and type checkers bring this module with them.
    from typing_extensions import NotRequired

Number = Union[int, Decimal]
"""A number, exact as it was sent: one with a fraction is a Decimal."""
`;
const WIDTH = 118;

export function pythonTypes(schemas, { referred, description }) {
  const written = [HEAD];

  /** The type of a node. An object without a name becomes a class of the name that is passed. */
  function typeOf(node, name) {
    const other = referred(node);
    if (other) return other;
    switch (node.kind) {
      case ts.SyntaxKind.StringKeyword:
        return "str";
      case ts.SyntaxKind.NumberKeyword:
        return "Number";
      case ts.SyntaxKind.BooleanKeyword:
        return "bool";
      case ts.SyntaxKind.TypeReference:
        return "int";
      case ts.SyntaxKind.ArrayType:
        return `List[${typeOf(node.elementType, name)}]`;
      case ts.SyntaxKind.ParenthesizedType:
        return typeOf(node.type, name);
      case ts.SyntaxKind.LiteralType:
      case ts.SyntaxKind.Identifier:
        return literal(node) === undefined ? "None" : `Literal[${literal(node)}]`;
      case ts.SyntaxKind.UnionType:
        return unionOf(node.types, name);
      case ts.SyntaxKind.TypeLiteral:
        writeClass(name, "TypedDict", node);
        return name;
      default:
        throw new Error(`${name}: no type of Python for ${ts.SyntaxKind[node.kind]}`);
    }
  }

  function unionOf(nodes, name) {
    const literals = nodes.map(literal);
    if (!literals.includes(undefined)) return `Literal[${literals.join(", ")}]`;
    return `Union[${nodes.map((node) => typeOf(node, name)).join(", ")}]`;
  }

  function writeClass(name, base, node, about) {
    const lines = node.members.flatMap((member) => {
      const field = member.name.text;
      const type = typeOf(member.type, name + field.replace(/(^|_)(\w)/g, (_, __, letter) => letter.toUpperCase()));
      const comment = wrapped(description(member) ?? "", "    # ");
      return [...comment, `    ${field}: ${member.questionToken ? `NotRequired[${type}]` : type}`];
    });
    written.push([`class ${name}(${base}):`, ...docstring(about, "    "), ...lines, ""].join("\n"));
  }

  for (const [name, member] of schemas) {
    const { type } = member;
    const about = description(member);
    if (ts.isTypeLiteralNode(type)) writeClass(name, "TypedDict", type, about);
    else if (ts.isIntersectionTypeNode(type)) {
      const [base, own] = type.types;
      writeClass(name, referred(base), own, about);
    } else {
      const alias = typeOf(type, name);
      const text = alias.startsWith("Literal[") ? folded(`${name} = ${alias}`) : `${name} = ${alias}`;
      written.push([text, ...docstring(about, ""), ""].join("\n"));
    }
  }
  return written
    .join("\n\n")
    .replace(/\n{3,}class/g, "\n\n\nclass")
    .replace(/\n{4,}/g, "\n\n\n");
}

/** A text of a closed list, in quotes. openapi-typescript writes it as an identifier that includes the quotes. */
function literal(node) {
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isLiteralTypeNode(node) && node.literal.text !== undefined)
    return literal(node.literal) ?? `"${node.literal.text}"`;
  return undefined;
}

/** A long list over several lines. */
function folded(text) {
  if (text.length <= WIDTH) return text;
  const [head, list] = [text.slice(0, text.indexOf("[") + 1), text.slice(text.indexOf("[") + 1, -1)];
  return [head, ...wrapped(`${list},`, "    "), "]"].join("\n");
}

function docstring(about, indent) {
  if (!about) return [];
  const lines = wrapped(`"""${about}"""`, indent);
  return lines;
}

function wrapped(text, indent) {
  const lines = [];
  for (const word of text.split(/\s+/).filter(Boolean)) {
    if (lines.length && indent.length + lines.at(-1).length + 1 + word.length <= WIDTH)
      lines.push(`${lines.pop()} ${word}`);
    else lines.push(word);
  }
  return lines.map((line) => indent + line);
}
