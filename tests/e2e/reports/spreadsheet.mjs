// Runs fixtures/recipes/spreadsheet.gs with stand-ins for the services of Apps Script that it uses, and prints the sheet's cells
// as JSON: node spreadsheet.mjs SCRIPT URL, with the key in API_KEY. Requests are real, by curl.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";

const [script, url] = process.argv.slice(2);
// The names of the sheets that exist, with their cells.
const sheets = new Map();
const codes = [];

function fetch(address, { method, contentType, headers, payload, muteHttpExceptions }) {
  const sent = Object.entries({ "Content-Type": contentType, ...headers });
  const options = sent.flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const command = [
    "-s",
    "-X",
    method.toUpperCase(),
    ...options,
    "--data-binary",
    "@-",
    "-w",
    "\n%{http_code}",
    address,
  ];
  const output = execFileSync("curl", command, { input: payload, encoding: "utf8" });
  const end = output.lastIndexOf("\n");
  const code = Number(output.slice(end + 1));
  codes.push(code);
  if (code >= 400 && !muteHttpExceptions) throw new Error(`Request failed: ${code}`);
  return { getResponseCode: () => code, getContentText: () => output.slice(0, end) };
}

// The rows of a CSV, with texts in quotes.
function parseCsv(text) {
  const rows = text.trimEnd().split(/\r?\n(?=(?:[^"]*"[^"]*")*[^"]*$)/);
  const cell = (part) => (part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part);
  return rows.map((row) => row.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/).map(cell));
}

// A spreadsheet takes what follows an apostrophe for text, and other texts as if somebody typed them.
function typed(value) {
  if (typeof value === "number") return value;
  if (value.startsWith("'")) return value.slice(1);
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return { date: value };
  if (/^[=+]/.test(value)) return { formula: value };
  return value !== "" && !Number.isNaN(Number(value)) ? Number(value) : value;
}

function sheet(name) {
  return {
    clearContents: () => sheets.set(name, []),
    getRange: (row, column, height, width) => ({
      setValues: (cells) => {
        // Apps Script refuses cells of another shape than the range's.
        const fits = cells.length === height && cells.every((of) => of.length === width);
        if (!fits || row !== 1 || column !== 1) throw new Error("the cells do not fit the range");
        sheets.set(
          name,
          cells.map((of) => of.map(typed)),
        );
      },
    }),
  };
}

const book = {
  getSheetByName: (name) => (sheets.has(name) ? sheet(name) : null),
  insertSheet: (name) => {
    sheets.set(name, []);
    return sheet(name);
  },
};
const services = {
  PropertiesService: {
    getScriptProperties: () => ({ getProperties: () => ({ REPORTING_URL: url, API_KEY: process.env.API_KEY }) }),
  },
  SpreadsheetApp: { getActiveSpreadsheet: () => book },
  UrlFetchApp: { fetch },
  Utilities: { parseCsv, sleep: (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms) },
};
runInNewContext(`${readFileSync(script, "utf8")}\nfillReport();`, services);
console.log(JSON.stringify({ codes, cells: sheets.get("Report") }));
