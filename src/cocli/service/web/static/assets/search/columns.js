// Columns: of each row a number. Of a facet it is the number of the cell's text, 0 is none.
import { compareText } from "./texts.js";

export const BETWEEN = "\x1f";
export const FACETS = { city: "city", region: "region", country: "country", category: "categories", tag: "tags", status: "status", source: "sources" };
const TOP = 50;
const ROOM = 2 ** 20;

export class Column {
  constructor(codes, cells) {
    this.codes = codes;
    this.cells = cells; // cells[0] is the empty one
  }
  values(code) {
    return code ? this.cells[code].split(BETWEEN) : [];
  }
  // For each code whether its cell has one of the values, or all of them.
  fits(wanted, all) {
    const allowed = new Uint8Array(this.cells.length);
    for (let code = 1; code < this.cells.length; code++) {
      const values = this.values(code);
      const has = (value) => values.includes(value);
      allowed[code] = (all ? wanted.every(has) : wanted.some(has)) ? 1 : 0;
    }
    return allowed;
  }
  ranks(fold) {
    const keys = this.cells.map((cell) => [fold(cell), cell]);
    const order = keys.map((_, code) => code).sort((a, b) => compareText(keys[a][0], keys[b][0]) || compareText(keys[a][1], keys[b][1]));
    const ranks = new Uint32Array(order.length);
    order.forEach((code, rank) => (ranks[code] = code && rank + 1));
    return ranks;
  }
  counted(numbers) {
    const perCode = new Uint32Array(this.cells.length);
    for (let index = 0; index < numbers.length; index++) perCode[this.codes[numbers[index]]]++;
    const counts = new Map();
    for (let code = 1; code < perCode.length; code++)
      if (perCode[code]) for (const value of new Set(this.values(code))) counts.set(value, (counts.get(value) || 0) + perCode[code]);
    return [...counts].sort((a, b) => b[1] - a[1] || compareText(a[0], b[0])).slice(0, TOP);
  }
}

// Rows that have no value come last, in both directions; equal ones stay as they are. Few different values are counted through;
// else value and number of a row become one number, which is sorted without a function for each pair. Rows are fewer than 2^21.
export function sortedBy(numbers, keyOf, desc) {
  const keys = new Uint32Array(numbers.length);
  let most = 0;
  for (let place = 0; place < keys.length; place++) if ((keys[place] = keyOf(numbers[place])) > most) most = keys[place];
  return most < ROOM ? countedThrough(numbers, keys, most, desc) : packed(numbers, keys, desc);
}

function countedThrough(numbers, keys, most, desc) {
  const from = new Uint32Array(most + 2);
  const at = (key) => (key === 0 ? most : desc ? most - key : key - 1);
  for (const key of keys) from[at(key) + 1]++;
  for (let place = 1; place < from.length; place++) from[place] += from[place - 1];
  const all = new Uint32Array(numbers.length);
  for (let place = 0; place < keys.length; place++) all[from[at(keys[place])]++] = numbers[place];
  return all;
}

function packed(numbers, keys, desc) {
  const room = 2 ** 21;
  const values = new Float64Array(numbers.length);
  const all = new Uint32Array(numbers.length);
  let having = 0, without = 0;
  for (let place = 0; place < keys.length; place++)
    if (keys[place] > 0) values[having++] = (desc ? 2 ** 32 - keys[place] : keys[place]) * room + numbers[place];
    else all[without++] = numbers[place];
  all.copyWithin(having, 0, without);
  values.subarray(0, having).sort().forEach((value, place) => (all[place] = value % room));
  return all;
}

export function everyRow(count) {
  const numbers = new Uint32Array(count);
  for (let number = 1; number < count; number++) numbers[number] = number;
  return numbers;
}

// The first place for which a test holds that holds for all after it.
export function firstAt(length, test) {
  let low = 0, high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
