/**
 * CSV by the rules of the command line, as src/rosenblatt/tables has them: the delimiter, the header, decimal commas and
 * the column of the labels are found in the text, and columns of names become one feature for each name. `tests/lab`
 * compares both readers. What the page has no place for (dates, texts, missing numbers) is refused with a sentence.
 */

import { Refused } from "./document.ts";
import { type Data, MOST_CLASSES, MOST_FEATURES, MOST_ROWS } from "./setup.ts";

const DELIMITERS = [",", ";", "\t", "|"];
const LOOKED_AT = 20;
const FIRST_ROWS = 1000;
const FEW_VALUES = 20;
const TARGETS = ["label", "target", "class", "y"];
const MISSING_NAMES = ["", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "None", "?"];
const MISSING = [...MISSING_NAMES, "-", "."];
const PLAIN_NAME = /^[\p{L}_][\p{L}\p{N}_.-]{0,63}$/u;
const LIKE_A_NUMBER = /^\s*[+-]?[0-9.,][0-9., ']*([eE][+-]?[0-9]+)?\s*$/;
const DATE = /^\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d{1,2}[-/]\d{1,2}[-/]\d{2}|(?:[A-Z][a-z]{2,8},?\s+)?[A-Z][a-z]{2,8}\.?\s+\d{1,2},?\s+\d{4}|(?:[A-Z][a-z]{2,8},?\s+)?\d{1,2}[\s-][A-Za-z]{3,9}\.?[\s-](?:\d{4}|\d{2}))([ T]\d{1,2}:\d{2}.*)?\s*$/;
const TIME = /^\s*\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*$/;
const TRUTH = new Map([...["1", "true", "True", "TRUE"].map((word) => [word, 1] as const), ...["0", "false", "False", "FALSE"].map((word) => [word, 0] as const)]);

/** A way to write numbers. */
interface Notation {
  readonly decimal: "." | ",";
  readonly thousands: string;
  readonly pattern: RegExp;
}

function notation(decimal: "." | ",", thousands = ""): Notation {
  const mark = `[${decimal}]`;
  const groups = thousands ? `[1-9][0-9]{0,2}(?:[${thousands}][0-9]{3})+(?:${mark}[0-9]*)?|` : "";
  return { decimal, thousands, pattern: new RegExp(`^\\s*[+-]?(?:${groups}(?:[0-9]+(?:${mark}[0-9]*)?|${mark}[0-9]+)(?:[eE][+-]?[0-9]+)?)\\s*$`) };
}

const POINT = notation(".");
const COMMA = notation(",");
const NOTATIONS = [POINT, COMMA, ...[",", ".", "'", " "].flatMap((mark) => [".", ","].filter((decimal) => decimal !== mark).map((decimal) => notation(decimal as "." | ",", mark)))];

const isNumber = (text: string): boolean => NOTATIONS.some((each) => each.pattern.test(text));
const count = (values: readonly string[], pattern: RegExp): number => values.reduce((sum, each) => sum + Number(pattern.test(each)), 0);

interface Row {
  readonly line: number;
  readonly cells: readonly string[];
}

/** Split text into rows of cells; a cell in quotes may hold delimiters and line ends. Empty lines are no rows. */
function rowsOf(text: string, delimiter: string, quoted: boolean, most = Infinity): Row[] {
  const found: Row[] = [];
  let [cells, cell, line, begun, at]: [string[], string, number, number, number] = [[], "", 1, 1, 0];
  const end = (): void => {
    if (cells.length || cell) found.push({ line: begun, cells: [...cells, cell] });
    [cells, cell] = [[], ""];
  };
  while (at < text.length && found.length < most) {
    const c = text[at];
    if (quoted && c === '"' && cell === "") {
      const from = at;
      for (at++; at < text.length; at++) {
        if (text[at] === '"' && text[at + 1] === '"') at++;
        else if (text[at] === '"') break;
        else if (text[at] === "\n") line++;
      }
      if (at >= text.length) throw new Refused(`Line ${begun}: a quote is opened and never closed.`);
      cell = text.slice(from + 1, at).replaceAll('""', '"');
      at++;
      // What follows the quote belongs to the cell as it is.
      while (at < text.length && text[at] !== delimiter && text[at] !== "\n" && text[at] !== "\r") cell += text[at++];
      if (at < text.length && text[at] === delimiter) {
        cells.push(cell);
        cell = "";
        at++;
        if (at >= text.length) break;
      } else if (!cell) {
        cells.push(cell); // a row that is one empty cell in quotes
        found.push({ line: begun, cells });
        cells = [];
      }
      continue;
    }
    if (c === delimiter) {
      cells.push(cell);
      cell = "";
    } else if (c === "\n" || c === "\r") {
      end();
      if (c === "\r" && text[at + 1] === "\n") at++;
      line++;
      begun = line;
    } else cell += c;
    at++;
  }
  if (found.length < most) end();
  return found;
}

/** The delimiter that splits the first rows into the most cells, as many in each. */
function delimiterOf(text: string): string {
  let [best, most] = [",", 1];
  for (const delimiter of DELIMITERS) {
    const widths = new Set(rowsOf(text, delimiter, true, LOOKED_AT).map((row) => row.cells.length));
    const [width] = widths;
    if (widths.size === 1 && width > most) [best, most] = [delimiter, width];
  }
  if (most > 1) return best;
  const [first] = text.trimStart().split("\n");
  const times = (delimiter: string): number => first.split(delimiter).length;
  return DELIMITERS.reduce((a, b) => (times(b) > times(a) ? b : a));
}

/** Whether the first row names the columns. */
function hasHeader(rows: readonly (readonly string[])[]): boolean {
  let first = rows[0].map((cell) => cell.trim());
  const numerals = first.filter(isNumber);
  const starts = [0, 1].map((start) => numerals.map((_, j) => String(start + j)).join());
  if (numerals.length && !(numerals.length > 1 && starts.includes(numerals.join()))) return false;
  const column = (j: number): string[] => rows.slice(1).filter((row) => j < row.length).map((row) => row[j].trim());
  const onlyNumbers = (values: string[]): boolean => {
    const known = values.filter((each) => !MISSING.includes(each));
    return known.length > 0 && known.every(isNumber);
  };
  if (first.some((cell, j) => !MISSING.includes(cell) && !isNumber(cell) && onlyNumbers(column(j)))) return true;
  const before = first.length > 1 && !first[0] && onlyNumbers(column(0)) ? 1 : 0;
  first = first.slice(before);
  if (new Set(first).size !== first.length || !first.every((cell) => PLAIN_NAME.test(cell) && !MISSING.includes(cell))) return false;
  return first.every((cell, j) => !column(j + before).includes(cell));
}

/** What a column holds. Of one that is `numeric` most values are numbers, so that the others are mistakes. */
interface Column {
  readonly name: string;
  readonly kind: "number" | "truth" | "string" | "date" | "nothing";
  readonly whole: boolean;
  readonly numeric: boolean;
  /** Notations in which more values are numbers than in that of the text. */
  readonly doubt: readonly Notation[] | null;
  readonly values: readonly string[];
}

function columnOf(name: string, values: readonly string[], used: Notation): Column {
  const known = values.filter((each) => !MISSING.includes(each.trim()));
  const plain = { name, values, whole: false, numeric: false, doubt: null };
  if (!known.length) return { ...plain, kind: "nothing" };
  const infinite = /^\s*[+-]?(inf|infinity)\s*$/i;
  if (known.every((each) => used.pattern.test(each) || infinite.test(each))) return { ...plain, kind: "number", whole: known.every((each) => /^\s*[+-]?\d+\s*$/.test(each)) };
  if (known.every((each) => TRUTH.has(each.trim()))) return { ...plain, kind: "truth" };
  const n = known.length;
  if (2 * count(known, LIKE_A_NUMBER) > n) {
    const counts = new Map(NOTATIONS.map((each) => [each, count(known, each.pattern)]));
    const most = Math.max(...counts.values());
    if (2 * most > n) {
      const base = (each: Notation): Notation => (each.decimal === "." ? POINT : COMMA);
      const found = NOTATIONS.filter((each) => counts.get(each) === most && (!each.thousands || counts.get(each)! > counts.get(base(each))!));
      const points = new Set(found.filter((each) => each.decimal === "." && each.thousands).map((each) => each.thousands));
      const best = found.filter((each) => each.decimal === "." || !points.has(each.thousands));
      return { ...plain, kind: "string", numeric: 2 * counts.get(used)! > n, doubt: best.includes(used) ? null : best };
    }
  }
  if (2 * count(known, DATE) > n || known.every((each) => TIME.test(each))) return { ...plain, kind: "date" };
  return { ...plain, kind: "string" };
}

/** The columns, with decimal commas where a column can only have these, commas do not separate the columns, and no column has points. */
function columnsOf(names: readonly string[], rows: readonly Row[], delimiter: string): [Column[], Notation] {
  const all = (used: Notation): Column[] => names.map((name, j) => columnOf(name, rows.map((row) => row.cells[j]), used));
  const columns = all(POINT);
  if (delimiter === "," || !columns.some(({ doubt }) => doubt?.length === 1 && doubt[0] === COMMA)) return [columns, POINT];
  const others = all(COMMA);
  return columns.every((each, j) => each.kind !== "number" || others[j].kind === "number") ? [others, COMMA] : [columns, POINT];
}

const holdsWords = (column: Column): boolean => column.kind === "truth" || (column.kind === "string" && !column.numeric);
const firstValues = (column: Column): string[] => column.values.slice(0, FIRST_ROWS).map((each) => each.trim()).filter((each) => !MISSING.includes(each));

/** Whether a column holds few different values, so that most occur again. */
function holdsClasses(column: Column): boolean {
  if (column.kind === "date" || column.kind === "nothing") return false;
  const values = firstValues(column);
  const [n, levels] = [values.length, new Set(values).size];
  if (!levels) return false;
  return levels <= (holdsWords(column) ? Math.max(2, Math.min(FEW_VALUES, n - 1), Math.floor(n / 2)) : Math.max(2, Math.min(FEW_VALUES, Math.floor(n / 2))));
}

/** Whether a column holds long strings of several words, most of which differ. */
function holdsTexts(column: Column): boolean {
  if (column.kind !== "string" || column.numeric) return false;
  const values = firstValues(column);
  if (values.length < 20 || 2 * new Set(values).size <= values.length) return false;
  const words = values.reduce((sum, each) => sum + each.split(/\s+/).filter(Boolean).length, 0);
  return words >= 5 * values.length && values.reduce((sum, each) => sum + each.length, 0) >= 30 * values.length;
}

/** Whether the column at a place seems to number the rows, as pandas and R write it. */
const numbersRows = ({ name, whole }: Column, place: number, named: boolean): boolean =>
  place === 0 && (name === "Unnamed: 0" ? whole : !name && named);

/** Whether a column holds few different words, or the codes of two classes. */
function tellsClasses(column: Column): boolean {
  if (column.kind === "date") return false;
  if (holdsWords(column)) return holdsClasses(column);
  const values = [...new Set(firstValues(column).map((value) => value.replace(/^\+/, "").replace(/\.0$/, "")))];
  return values.length > 0 && [["0", "1"], ["1", "2"], ["-1", "1"]].some((codes) => values.every((value) => codes.includes(value)));
}

/** The place of the labels: the column asked for, or the one with a usual name that holds classes, or the last. */
function targetOf(columns: readonly Column[], named: boolean, asked: string): number {
  const names = columns.map(({ name }) => name);
  if (asked) {
    if (names.includes(asked)) return names.indexOf(asked);
    const place = /^-?\d+$/.test(asked) ? Number(asked) : 0;
    if (place >= 1 && place <= names.length) return place - 1;
    if (place < 0 && -place <= names.length) return names.length + place;
    throw new Refused(`There is no column “${asked.slice(0, 40)}”. The columns are ${names.slice(0, 12).join(", ")}.`);
  }
  let last = columns.length - 1;
  while (named && last > 0 && !names[last] && columns[last].kind === "nothing") last--;
  let first = 0;
  while (named && first < last && (numbersRows(columns[first], first, named) || (!names[first] && columns[first].kind === "nothing"))) first++;
  const lowered = names.map((name) => name.toLowerCase());
  const usual = named ? TARGETS.map((name) => lowered.indexOf(name)).filter((place) => place >= 0) : [];
  if (!usual.length && holdsTexts(columns[last])) {
    const other = columns.findIndex((column, j) => j < last && holdsClasses(column));
    if (other >= 0) return other;
  }
  if (!usual.length || (usual.length === 1 && usual[0] === last)) return last;
  const could = usual.filter((place) => holdsClasses(columns[place]));
  const best = could.find((place) => tellsClasses(columns[place])) ?? could[0] ?? usual[0];
  if (could.length > 1 || best === last) return best;
  const words = [last, first].filter((j) => !usual.includes(j) && holdsWords(columns[j]) && holdsClasses(columns[j]));
  if (!words.length) return !could.length && !usual.includes(last) && holdsClasses(columns[last]) ? last : best;
  return tellsClasses(columns[best]) ? best : words[0];
}

export interface Reading {
  readonly data: Data;
  /** Which column holds the labels, and what else a reader should know. */
  readonly says: string;
}

/** Read CSV or TSV; `asked` names the column of the labels, by its name or its place from 1. */
export function readCsv(written: string, name = "Your data", asked = "", tabs = false): Reading {
  if (written.length > 20_000_000) throw new Refused("This file is too large for the page. Use fewer rows.");
  let text = written.replace(/^\uFEFF/, "");
  const told = /^sep=(\\t|[\t!#-/:-@[-`{-~]) *(?:\r\n|\n|\r|$)/i.exec(text);
  if (told) text = text.slice(told[0].length);
  const skipped = told ? 1 : 0;
  if (!/[^\r\n]/.test(text)) throw new Refused("There are no rows. Paste lines such as 1.5,-0.5,yes.");
  const delimiter = told ? told[1].replace("\\t", "\t") : tabs ? "\t" : delimiterOf(text);
  const rows = rowsOf(text, delimiter, !tabs).map((row) => ({ ...row, line: row.line + skipped }));
  const width = rows[0].cells.length;
  if (width < 2) throw new Refused(`Line ${rows[0].line} has one column. Separate the features and the label by commas, semicolons or tabs.`);
  const named = hasHeader(rows.slice(0, LOOKED_AT).map((row) => row.cells));
  const body = named ? rows.slice(1) : rows;
  if (!body.length) throw new Refused("There is a line of names, but no row below it.");
  if (body.length > MOST_ROWS) throw new Refused(`There are ${body.length} rows. The page takes at most ${MOST_ROWS}.`);
  const bad = body.find((row) => row.cells.length !== width);
  if (bad) throw new Refused(`Line ${bad.line} has ${bad.cells.length} columns, but the first has ${width}.`);
  const given = rows[0].cells.map((cell, j) => (named ? cell.trim() : `x${j + 1}`));
  // Of several columns of one name, all but the first get their number, as on the command line.
  const names = given.map((name, j) => (name && given.indexOf(name) < j ? `${name} (column ${j + 1})` : name));
  const [columns, used] = columnsOf(names, body, delimiter);
  const wanted = asked.trim();
  const times = given.filter((name) => name === wanted).length;
  if (wanted && times > 1) throw new Refused(`${times} columns are called “${wanted.slice(0, 40)}”. Choose one by its position.`);
  const target = targetOf(columns, named, wanted);
  const features = columns.map((_, j) => j).filter((j) => j !== target && columns[j].kind !== "nothing" && !numbersRows(columns[j], j, named));
  if (!features.length) throw new Refused("No column is left to learn from. Is the label in the right column?");
  if (named) {
    const seen = new Set<string>();
    for (const j of [...features, target].sort((a, b) => a - b)) {
      if (!names[j]) throw new Refused(`Column ${j + 1} has no name. Give it one.`);
      const name = !wanted && given[j] === given[target] ? given[target] : names[j];
      if (seen.has(name)) throw new Refused(`Two columns are called “${name.slice(0, 40)}”. Rename one.`);
      seen.add(name);
    }
  }
  // The number of a column is not needed where the others of its name are left out.
  const inUse = [...features, target];
  const nameOf = (j: number): string => (inUse.filter((k) => given[k] === given[j]).length === 1 ? given[j] : names[j]);
  const place = (j: number): string => `“${nameOf(j).slice(0, 40)}”`;
  const quote = (value: string): string => `“${value.trim().slice(0, 30)}”`;
  for (const j of features) {
    const { kind, doubt, values } = columns[j];
    if (kind === "date") throw new Refused(`${place(j)} holds dates or times, which the page does not read. \`rosenblatt lab FILE\` does.`);
    if (doubt) {
      const i = values.findIndex((each) => doubt[0].pattern.test(each) && !used.pattern.test(each));
      const ways = doubt.map((each) => `${each.thousands ? `with “${each.thousands}” between thousands` : `with the decimal mark “${each.decimal}”`}`);
      throw new Refused(`Line ${body[Math.max(i, 0)].line}: ${place(j)} is ${quote(values[Math.max(i, 0)])}, which could be read ${ways.join(" or ")}. Write numbers such as 1234.5.`);
    }
    if (holdsTexts(columns[j])) throw new Refused(`${place(j)} holds texts, which the page does not read. \`rosenblatt lab FILE\` does.`);
  }
  const number = (cell: string, i: number, j: number): number => {
    const line = `Line ${body[i].line}`;
    const value = cell.trim();
    if (columns[j].kind === "truth" && TRUTH.has(value)) return TRUTH.get(value)!;
    if (MISSING.includes(value)) throw new Refused(`${line}: ${place(j)} is missing. Fill it in, or leave the row out.`);
    const found = used.pattern.test(value) ? Number(value.replace(used.decimal, ".")) : NaN;
    if (!Number.isFinite(found)) throw new Refused(`${line}: ${place(j)} is ${quote(cell)}, which is not a finite number.`);
    if (/^[+-]?\d{16,}$/.test(value) && BigInt(value.replace("+", "")) !== BigInt(found)) throw new Refused(`${line}: ${place(j)} is ${quote(cell)}, which has too many digits for a number.`);
    return found;
  };
  const X: number[][] = body.map(() => []);
  const made: string[] = [];
  const isName = (j: number): boolean => columns[j].kind === "string" && !columns[j].numeric;
  for (const j of features.filter((each) => !isName(each))) {
    made.push(nameOf(j));
    columns[j].values.forEach((cell, i) => X[i].push(number(cell, i, j)));
  }
  // Names become features in the order in which they occur, row by row.
  const worded = features.filter(isName);
  const places = new Map<string, number>();
  const featureOf = (cell: string, j: number): string => (MISSING_NAMES.includes(cell) ? `${nameOf(j)} is missing` : `${nameOf(j)}=${cell}`);
  body.forEach((row) => {
    for (const j of worded) {
      const feature = featureOf(row.cells[j], j);
      if (!places.has(feature)) places.set(feature, places.size);
      if (made.length + places.size > MOST_FEATURES) throw new Refused(`Each different name in ${worded.slice(0, 4).map(place).join(", ")} is a feature, and these are more than ${MOST_FEATURES}, which is the most that the page takes.`);
    }
  });
  body.forEach((row, i) => {
    const found = new Array<number>(places.size).fill(0);
    for (const j of worded) found[places.get(featureOf(row.cells[j], j))!] = 1;
    X[i].push(...found);
  });
  made.push(...places.keys());
  if (made.length > MOST_FEATURES) throw new Refused(`There are ${made.length} features. The page takes at most ${MOST_FEATURES}.`);
  const { labels, codes } = labelsOf(columns[target], used, (i) => `Line ${body[i].line}`);
  if (labels.length < 2) throw new Refused(`All rows have the label “${labels[0]}”. Two classes or more are needed.`);
  if (labels.length > MOST_CLASSES) throw new Refused(`${place(target)} was taken as the label, and has ${labels.length} different values. The page takes at most ${MOST_CLASSES} classes; is the label in another column?`);
  const data = { name, features: made.map((each) => each.slice(0, 60)), labels, X, y: codes.map((code) => (labels.length > 2 ? code : 2 * code - 1)) };
  const more = `${used === COMMA ? " Commas are decimal marks." : ""}${worded.length ? ` Each name in ${worded.slice(0, 4).map(place).join(", ")} is a feature.` : ""}`;
  return { data, says: `The label is ${named ? `the column ${place(target)}` : `column ${target + 1}`}.${more}` };
}

/** The labels in their order, and which of them each row has. Numbers are compared as numbers. */
function labelsOf(column: Column, used: Notation, line: (i: number) => string): { labels: string[]; codes: number[] } {
  if (column.kind === "date") throw new Refused(`The label “${column.name.slice(0, 40)}” holds dates. Choose another column.`);
  const numeric = column.kind === "number";
  const cells = column.values.map((cell, i) => {
    if (MISSING_NAMES.includes(cell.trim()) && (numeric || !cell.trim())) throw new Refused(`${line(i)}: the label is missing.`);
    if (!numeric) return cell.slice(0, 60);
    const value = used.pattern.test(cell) ? Number(cell.trim().replace(used.decimal, ".")) : NaN;
    if (!Number.isFinite(value)) throw new Refused(`${line(i)}: the label “${cell.trim().slice(0, 30)}” is not a finite number.`);
    return String(value + 0);
  });
  const labels = [...new Set(cells)].sort((a, b) => (numeric ? Number(a) - Number(b) : a < b ? -1 : 1));
  const places = new Map(labels.map((label, code) => [label, code]));
  return { labels, codes: cells.map((cell) => places.get(cell)!) };
}
