// Opens a file as SheetJS does, and prints its rows: each cell as its type (`s` is text, `n` a number) and its value.

import { readFileSync } from "node:fs";
import XLSX from "xlsx";

const book = XLSX.read(readFileSync(process.argv[2]), { dense: true });
const rows = book.Sheets[book.SheetNames[0]];
console.log(JSON.stringify(Array.from(rows, (row) => Array.from(row, (cell) => [cell?.t, cell?.v]))));
