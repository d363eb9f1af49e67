// The search over prospects, without any page: lines that are loaded whole, or an index that is read by ranges.
// `cocli.app.web.prospects` writes the files and has the same search in Python; a test compares the two.

const BETWEEN = "\x1f";
const FACETS = { city: "city", region: "region", country: "country", category: "categories", tag: "tags", status: "status", source: "sources" };
const NUMBERS = ["rating", "reviews", "updated"];
const SPACES = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;
const WORDS = /[\p{L}\p{N}]+/gu;
const LETTER = /[\p{L}\p{N}]/u;
const NUMBER = /^[+(]?[0-9][0-9().+/-]*$/;
const LEAST_DIGITS = 5;
const TOP = 50;
const decoder = new TextDecoder();
const encoder = new TextEncoder();

// --- texts

export function folding(rules) {
  const marks = new RegExp("[" + rules.marks.map(([from, to]) => `\\u{${from.toString(16)}}-\\u{${to.toString(16)}}`).join("") + "]", "gu");
  const letters = new Map(Object.entries(rules.letters));
  return (text) => {
    if (/[^\x00-\x7f]/.test(text)) {
      text = text.normalize("NFKD").replace(marks, "");
      text = Array.from(text.toLowerCase(), (letter) => letters.get(letter) ?? letter).join("");
    } else text = text.toLowerCase();
    return text.split(SPACES).filter(Boolean).join(" ");
  };
}

function termsOf(query, fold) {
  return [...new Set(fold(query || "").split(" ").filter(Boolean))];
}

function digitsOf(term) {
  const digits = term.replace(/[^0-9]/g, "");
  return NUMBER.test(term) && digits.length >= LEAST_DIGITS && digits !== term ? digits : "";
}

// A slice keeps the long text alive that it was cut from; this is a text of its own.
const owned = (text) => decoder.decode(encoder.encode(text));

function compareText(one, other) {
  return one < other ? -1 : one > other ? 1 : 0;
}

function compareBytes(one, other) {
  const left = encoder.encode(one), right = encoder.encode(other);
  for (let place = 0; place < Math.min(left.length, right.length); place++) if (left[place] !== right[place]) return left[place] - right[place];
  return left.length - right.length;
}

// --- files

async function inflated(bytes, format) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// A server may have undone the compression on the way: then the mark of gzip is missing.
async function unzipped(bytes) {
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? inflated(bytes, "gzip") : bytes;
}

async function fetched(url, options = {}) {
  const answer = await fetch(url, { credentials: "same-origin", ...options });
  if (!answer.ok) throw new Error(`${url.split("/").slice(-2).join("/")}: HTTP status ${answer.status}`);
  return answer;
}

// --- columns: of each row a number. Of a facet it is the number of the cell's text, 0 is none.

class Column {
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

// Value and number of a row in one number: then they are sorted without a function for each pair. Rows are fewer than 2^21.
function sortedBy(numbers, keyOf, desc) {
  const room = 2 ** 21;
  const packed = new Float64Array(numbers.length);
  const all = new Uint32Array(numbers.length);
  let having = 0, without = 0;
  for (const number of numbers) {
    const key = keyOf(number);
    if (key > 0) packed[having++] = (desc ? 2 ** 32 - key : key) * room + number;
    else all[without++] = number;
  }
  all.copyWithin(having, 0, without);
  packed.subarray(0, having).sort().forEach((value, place) => (all[place] = value % room));
  return all;
}

// --- lines

class Lines {
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
    return numbers.map((number) => {
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

function everyRow(count) {
  const numbers = new Uint32Array(count);
  for (let number = 1; number < count; number++) numbers[number] = number;
  return numbers;
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

// --- index

class Index {
  constructor(base, manifest) {
    this.base = base;
    this.manifest = manifest;
    this.fold = folding(manifest.fold);
    this.loaded = manifest.rows;
    this.kept = new Map();
    this.starts = null;
  }

  async load() {
    const { lengths } = this.manifest.index.rows;
    const sizes = new Uint32Array((await this.file(lengths)).buffer);
    this.starts = new Float64Array(sizes.length + 1);
    sizes.forEach((size, number) => (this.starts[number + 1] = this.starts[number] + size));
  }

  async file(name) {
    return inflated(new Uint8Array(await (await fetched(this.base + name)).arrayBuffer()), "deflate-raw");
  }

  async range(name, start, length) {
    // Past the browser's cache: it lets only one range of a file on its way at a time.
    const answer = await fetched(this.base + name, { cache: "no-store", headers: { Range: `bytes=${start}-${start + length - 1}` } });
    const bytes = new Uint8Array(await answer.arrayBuffer());
    return answer.status === 206 ? bytes : bytes.subarray(start, start + length);
  }

  // What was read is kept, up to some hundred entries: typing on reads little.
  async remembered(key, make) {
    if (!this.kept.has(key)) {
      if (this.kept.size > 200) this.kept.delete(this.kept.keys().next().value);
      const made = make();
      made.catch(() => this.kept.delete(key));
      this.kept.set(key, made);
    }
    return this.kept.get(key);
  }

  blockOf(term) {
    const { blocks } = this.manifest.index.terms;
    let low = 0, high = blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (compareBytes(blocks[middle][0], term) <= 0) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  async terms(number) {
    return this.remembered(`t${number}`, async () => {
      const { file, blocks } = this.manifest.index.terms;
      const [, start, length] = blocks[number];
      return readTerms(await inflated(await this.range(file, start, length), "deflate-raw"));
    });
  }

  // The rows of all terms from `low` up to, without, the first for which `isIn` is false.
  async rowsOf(low, isIn) {
    const { blocks } = this.manifest.index.terms;
    const lists = [];
    for (let number = this.blockOf(low); number < blocks.length; number++) {
      if (lists.length && !isIn(blocks[number][0])) break;
      const block = await this.terms(number);
      const wanted = block.entries.filter((entry) => isIn(entry.term));
      if (wanted.length) lists.push(...(await this.postings(number, block, wanted)));
      const last = block.entries.at(-1).term;
      if (!isIn(last) && compareBytes(last, low) >= 0) break;
    }
    return united(lists);
  }

  async postings(number, block, wanted) {
    const from = wanted[0].chunk, to = wanted.at(-1).chunk;
    const chunks = await this.remembered(`p${number}-${from}-${to}`, async () => {
      const bytes = await this.range(this.manifest.index.postings, block.chunks[from].start, block.chunks[to].start + block.chunks[to].length - block.chunks[from].start);
      const parts = block.chunks.slice(from, to + 1);
      return Promise.all(parts.map(({ start, length }) => inflated(bytes.subarray(start - parts[0].start, start - parts[0].start + length), "deflate-raw")));
    });
    return wanted.map((entry) => readPostings(chunks[entry.chunk - from], entry));
  }

  async exactly(term) {
    if (!this.manifest.index.terms.blocks.length) return new Uint32Array();
    return this.rowsOf(term, (other) => other === term);
  }

  async beginning(start) {
    if (!this.manifest.index.terms.blocks.length) return new Uint32Array();
    const crowd = await this.exactly("\x02" + start);
    return crowd.length ? crowd : this.rowsOf(start, (other) => other.startsWith(start));
  }

  async search(view) {
    const terms = termsOf(view.q, this.fold);
    const sets = await Promise.all(terms.map((term) => this.ofTerm(term)));
    for (const name of view.has || []) sets.push(await this.exactly(`\x01has=${name}`));
    for (const facet in FACETS) {
      const lists = await Promise.all((view[facet] || []).map((value) => this.exactly(`\x01${facet}=${value}`)));
      if (facet === "tag") sets.push(...lists);
      else if (lists.length) sets.push(united(lists));
    }
    let found = sets.length ? common(sets) : everyRow(this.manifest.rows);
    for (const name of view.lacks || []) found = without(found, await this.exactly(`\x01has=${name}`));
    if (view.min_rating != null) {
      const column = await this.column("rating");
      const least = Math.round(view.min_rating * 100) + 1;
      found = found.filter((number) => column && column.codes[number] >= least);
    }
    return this.sorted(found, view);
  }

  async ofTerm(term) {
    const words = term.match(WORDS) || [];
    const digits = digitsOf(term);
    const lists = await Promise.all(words.map((word) => this.beginning(word)));
    const found = lists.length ? common(lists) : everyRow(this.manifest.rows);
    return digits ? united([found, await this.beginning(digits)]) : found;
  }

  async sorted(found, view) {
    const sort = view.sort || "best";
    if (sort === "best" || sort === "name") return view.desc ? found.slice().reverse() : found;
    const column = await this.column(sort);
    return column ? sortedBy(found, (number) => column.codes[number], view.desc) : found;
  }

  async column(name) {
    const about = this.manifest.index.columns[name];
    if (!about) return null;
    return this.remembered(`c${name}`, async () => {
      const codes = new Uint32Array((await this.file(about.codes)).buffer);
      const cells = about.values ? JSON.parse(decoder.decode(await this.file(about.values))) : [];
      return new Column(codes, ["", ...cells]);
    });
  }

  async cells(numbers) {
    const { file, block } = this.manifest.index.rows;
    const wanted = [...new Set(numbers.map((number) => Math.floor(number / block)))];
    const texts = new Map();
    await Promise.all(
      wanted.map(async (place) => {
        const lines = await this.remembered(`r${place}`, async () =>
          decoder.decode(await inflated(await this.range(file, this.starts[place], this.starts[place + 1] - this.starts[place]), "deflate-raw")).split("\n"),
        );
        texts.set(place, lines);
      }),
    );
    return numbers.map((number) => texts.get(Math.floor(number / block))[number % block].split("\t"));
  }

  async facets(names, found) {
    const isWhole = found.length === this.manifest.rows; // those were counted when it was written
    const columns = isWhole ? [] : await Promise.all(names.map((name) => this.column(name)));
    const counted = {};
    names.forEach((name, place) => {
      if (isWhole) counted[name] = this.manifest.facets[name];
      else if (columns[place]) counted[name] = columns[place].counted(found);
    });
    return counted;
  }
}

function reader(bytes) {
  let place = 0;
  return {
    number() {
      let value = 0, factor = 1, byte;
      do {
        byte = bytes[place++];
        value += (byte & 0x7f) * factor;
        factor *= 128;
      } while (byte & 0x80);
      return value;
    },
    take: (length) => bytes.subarray(place, (place += length)),
    get ended() {
      return place >= bytes.length;
    },
  };
}

function readTerms(bytes) {
  const from = reader(bytes);
  let start = from.number();
  const chunks = Array.from({ length: from.number() }, () => {
    const chunk = { start, length: from.number(), terms: from.number() };
    start += chunk.length;
    return chunk;
  });
  const entries = [];
  let before = new Uint8Array(), chunk = 0, inChunk = 0, offset = 0;
  while (!from.ended) {
    const shared = from.number(), rest = from.take(from.number());
    const word = new Uint8Array(shared + rest.length);
    word.set(before.subarray(0, shared));
    word.set(rest, shared);
    if (inChunk === chunks[chunk].terms) {
      chunk++;
      inChunk = offset = 0;
    }
    const entry = { term: decoder.decode(word), rows: from.number(), length: from.number(), chunk, offset };
    entries.push(entry);
    offset += entry.length;
    inChunk++;
    before = word;
  }
  return { chunks, entries };
}

function readPostings(bytes, { offset, rows }) {
  const numbers = new Uint32Array(rows);
  let row = 0, at = offset;
  for (let place = 0; place < rows; place++) {
    let byte = bytes[at++], distance = byte & 0x7f;
    for (let shift = 7; byte & 0x80; shift += 7) {
      byte = bytes[at++];
      distance |= (byte & 0x7f) << shift;
    }
    numbers[place] = row += distance;
  }
  return numbers;
}

function united(lists) {
  if (lists.length < 2) return lists[0] || new Uint32Array();
  const all = new Uint32Array(lists.reduce((sum, list) => sum + list.length, 0));
  let place = 0;
  for (const list of lists) {
    all.set(list, place);
    place += list.length;
  }
  all.sort();
  return all.filter((number, index) => !index || all[index - 1] !== number);
}

function common(lists) {
  const [least, ...others] = lists.slice().sort((a, b) => a.length - b.length);
  return others.reduce((found, list) => pick(found, list, true), least);
}

const without = (found, list) => pick(found, list, false);

function pick(found, list, wanted) {
  let place = 0;
  return found.filter((number) => {
    while (place < list.length && list[place] < number) place++;
    return (list[place] === number) === wanted;
  });
}

// --- for the Worker

export async function openSearch(base) {
  const manifest = await (await fetched(base + "manifest.json", { cache: "no-cache" })).json();
  if (manifest.schema !== "cocli.web-prospects/1") throw new Error(`This page does not know ${manifest.schema}. Load it again.`);
  return manifest.mode === "index" ? new Index(base, manifest) : new Lines(base, manifest);
}

export function rowsOf(search, cells) {
  const { columns } = search.manifest;
  const lists = new Set(["emails", ...Object.values(FACETS).filter((name) => name.endsWith("s") && name !== "status")]);
  return cells.map((row) => Object.fromEntries(columns.map((name, place) => [name, lists.has(name) ? row[place].split(BETWEEN).filter(Boolean) : row[place]])));
}
