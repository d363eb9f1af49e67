// Lines that are loaded whole, and searched for any part of a text.
import { Column, everyRow, FACETS, sortedBy } from "./columns.js";
import { fetched, unzipped } from "./files.js";
import { decoder, digitsOf, folding, owned, termsOf } from "./texts.js";

const NUMBERS = ["rating", "reviews", "updated"];
const LETTER = /[\p{L}\p{N}]/u;

export class Lines {
  constructor(base, manifest) {
    this.base = base;
    this.manifest = manifest;
    this.fold = folding(manifest.fold);
    this.blocks = [];
    this.loaded = 0;
    this.presence = new Uint32Array(manifest.rows);
    this.columns = {};
    this.numbers = {};
    this.ranksOf = {};
    this.kept = []; // what is read of each line
    for (const [facet, name] of Object.entries(FACETS))
      if (manifest.columns.includes(name)) {
        const column = (this.columns[facet] = new Column(new Uint32Array(manifest.rows), [""]));
        this.kept.push({ place: manifest.columns.indexOf(name), column, known: new Map([["", 0]]), name, values: null });
      }
    for (const name of NUMBERS)
      if (manifest.columns.includes(name)) {
        const values = (this.numbers[name] = new Uint32Array(manifest.rows));
        this.kept.push({ place: manifest.columns.indexOf(name), column: null, known: null, name, values });
      }
  }

  async load(onProgress) {
    const ahead = 3; // so many blocks are on their way at once
    const coming = [];
    const next = () => {
      const block = this.manifest.lines[coming.length];
      if (block) coming.push(fetched(this.base + block.file).then((answer) => answer.arrayBuffer()).then((buffer) => unzipped(new Uint8Array(buffer))));
      coming.at(-1)?.catch(() => {}); // told where it is awaited
    };
    for (let count = 0; count < ahead; count++) next();
    for (let number = 0; number < this.manifest.lines.length; number++) {
      const bytes = await coming[number];
      coming[number] = null;
      next();
      this.add(bytes);
      onProgress(this.loaded);
    }
  }

  // One walk over the text of a block: where its cells are. Only those that are counted or sorted by become texts.
  add(bytes) {
    const text = decoder.decode(bytes);
    const { searched, columns } = this.manifest;
    const count = occurrences(text, "\n") + 1, first = this.loaded;
    const starts = new Uint32Array(count + 1), bounds = new Uint32Array(count + 1), names = new Uint32Array(count);
    const ends = new Uint32Array(columns.length), folded = new Array(count);
    const isAscii = text.length === bytes.length;
    let place = 0, length = 0;
    for (let index = 0; index < count; index++) {
      const line = place;
      let present = 0;
      for (let column = 0; column < columns.length; column++) {
        const end = text.indexOf("\t", place);
        if (end > place) present |= 1 << column;
        ends[column] = end;
        place = end + 1;
      }
      const feed = text.indexOf("\n", place), after = feed < 0 ? text.length : feed;
      const own = after > place ? text.slice(place, after) : text.slice(line, ends[searched - 1]).toLowerCase(); // the folded text has tabs, too
      this.presence[first + index] = present;
      this.keep(first + index, text, line, ends);
      folded[index] = own;
      const tab = own.indexOf("\t");
      names[index] = length + (tab < 0 ? own.length : tab);
      bounds[index + 1] = length += own.length + 1;
      starts[index + 1] = isAscii ? after + 1 : nextLine(bytes, starts[index]);
      place = after + 1;
    }
    this.blocks.push({ first, count, bytes, starts, bounds, names, folded: owned(folded.join("\n")) });
    this.loaded += count;
    this.ranksOf = {};
  }

  keep(number, text, line, ends) {
    for (const { place, known, column, name, values } of this.kept) {
      const cell = text.slice(place ? ends[place - 1] + 1 : line, ends[place]);
      if (values) {
        values[number] = name === "updated" && cell === this.lastTime ? this.lastSeconds : numberOf(name, cell);
        if (name === "updated") [this.lastTime, this.lastSeconds] = [cell, values[number]];
        continue;
      }
      let code = known.get(cell);
      if (code === undefined) {
        const kept = owned(cell);
        code = column.cells.push(kept) - 1;
        known.set(kept, code);
      }
      column.codes[number] = code;
    }
  }

  async search(view) {
    const terms = termsOf(view.q, this.fold);
    let found = terms.length ? this.having(terms) : everyRow(this.loaded);
    found = this.filtered(found, view);
    return this.sorted(found, view, terms);
  }

  having(terms) {
    const asked = terms.map((term) => [term, digitsOf(term)]).sort((a, b) => b[0].length - a[0].length);
    const [[chosen, digits], ...others] = asked;
    const numbers = new Uint32Array(this.loaded);
    let total = 0;
    for (const block of this.blocks) {
      const { folded, bounds, first } = block;
      const places = digits ? merged(placesOf(block, chosen), placesOf(block, digits)) : placesOf(block, chosen);
      for (let index = 0; index < places.length; index++) {
        const place = places[index];
        if (others.length) {
          const line = folded.slice(bounds[place], bounds[place + 1] - 1);
          if (!others.every(([term, number]) => line.includes(term) || (number && line.includes(number)))) continue;
        }
        numbers[total++] = first + place;
      }
    }
    return numbers.slice(0, total);
  }

  mask(names) {
    const { columns } = this.manifest;
    let mask = 0;
    for (const name of names) {
      const parts = name === "position" ? ["lat", "lon"] : [name];
      for (const part of parts) {
        if (!columns.includes(part)) return null;
        mask |= 1 << columns.indexOf(part);
      }
    }
    return mask;
  }

  filtered(found, view) {
    const tests = [];
    const has = this.mask(view.has || []);
    if (has === null) return found.slice(0, 0);
    if (has) tests.push((number) => (this.presence[number] & has) === has);
    for (const name of view.lacks || []) {
      const mask = this.mask([name]);
      if (mask) tests.push((number) => (this.presence[number] & mask) !== mask);
    }
    if (view.min_rating != null) {
      const least = Math.round(view.min_rating * 100) + 1;
      const ratings = this.numbers.rating;
      if (!ratings) return found.slice(0, 0);
      tests.push((number) => ratings[number] >= least);
    }
    for (const facet in FACETS) {
      const wanted = view[facet] || [];
      if (!wanted.length) continue;
      const column = this.columns[facet];
      if (!column) return found.slice(0, 0);
      const allowed = column.fits(wanted, facet === "tag");
      tests.push((number) => allowed[column.codes[number]]);
    }
    return tests.length ? found.filter((number) => tests.every((test) => test(number))) : found;
  }

  sorted(found, view, terms) {
    const sort = view.sort || "best";
    if (sort === "best" && terms.length) return this.ranked(found, terms);
    if (sort === "best" || sort === "name") return view.desc ? found.reverse() : found;
    if (sort === "city") {
      const column = this.columns.city;
      if (!column) return found;
      const ranks = (this.ranksOf.city ??= column.ranks(this.fold));
      return sortedBy(found, (number) => ranks[column.codes[number]], view.desc);
    }
    const values = this.numbers[sort];
    return values ? sortedBy(found, (number) => values[number], view.desc) : found;
  }

  ranked(found, terms) {
    const whole = terms.join(" "), ranks = new Uint8Array(found.length), from = new Uint32Array(5);
    let number = 0;
    for (const { folded, bounds, names, first, count } of this.blocks)
      for (; number < found.length && found[number] < first + count; number++) {
        const place = found[number] - first;
        const rank = folded.startsWith(whole, bounds[place]) ? 0 : nameRank(folded.slice(bounds[place], names[place]), terms);
        ranks[number] = rank;
        from[rank + 1]++;
      }
    for (let rank = 1; rank < 4; rank++) from[rank] += from[rank - 1];
    const ordered = new Uint32Array(found.length);
    for (let index = 0; index < found.length; index++) ordered[from[ranks[index]]++] = found[index];
    return ordered;
  }

  async cells(numbers) {
    return Array.from(numbers, (number) => {
      const block = this.blocks.find(({ first, count }) => number < first + count);
      const place = number - block.first;
      return decoder.decode(block.bytes.subarray(block.starts[place], block.starts[place + 1] - 1)).split("\t");
    });
  }

  async facets(names, found) {
    return Object.fromEntries(names.filter((name) => this.columns[name]).map((name) => [name, this.columns[name].counted(found)]));
  }
}

function occurrences(text, part) {
  let count = 0;
  for (let place = text.indexOf(part); place >= 0; place = text.indexOf(part, place + 1)) count++;
  return count;
}

function nextLine(bytes, start) {
  const feed = bytes.indexOf(10, start);
  return feed < 0 ? bytes.length + 1 : feed + 1;
}

// The lines that have a term. Places only grow, so the bounds are walked along once.
function placesOf({ folded, bounds, count }, term) {
  const places = [];
  let place = 0;
  for (let position = folded.indexOf(term); position >= 0; position = folded.indexOf(term, bounds[place])) {
    while (bounds[place + 1] <= position) place++;
    places.push(place++);
    if (place >= count) break;
  }
  return places;
}

function merged(one, other) {
  return [...new Set([...one, ...other])].sort((a, b) => a - b);
}

// Of a name that does not begin with all the words.
function nameRank(name, terms) {
  let rank = 1;
  for (const term of terms) {
    let at = name.indexOf(term);
    if (at < 0) return 3;
    while (at >= 0 && !beginsWord(name, at)) at = name.indexOf(term, at + 1);
    if (at < 0) rank = 2;
  }
  return rank;
}

// At the beginning of a run of letters and digits. Half of a character is taken with its other half.
function beginsWord(text, at) {
  if (!isLetter(text, at)) return false;
  const unit = text.charCodeAt(at - 1);
  return !at || !isLetter(text, unit >= 0xdc00 && unit < 0xe000 ? at - 2 : at - 1);
}

function isLetter(text, at) {
  const point = text.codePointAt(at);
  if (point < 0x80) return (point > 96 && point < 123) || (point > 47 && point < 58) || (point > 64 && point < 91);
  return LETTER.test(String.fromCodePoint(point));
}

function numberOf(name, cell) {
  if (!cell) return 0;
  if (name === "rating") return Math.round(Number(cell) * 100) + 1;
  if (name === "updated") return Date.parse(cell) / 1000 + 1;
  return Number(cell) + 1;
}
