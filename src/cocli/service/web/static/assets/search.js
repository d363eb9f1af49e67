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
const ROOM = 2 ** 20;
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

// Rows that have no value come last, in both directions; equal ones stay as they are. Few different values are counted through;
// else value and number of a row become one number, which is sorted without a function for each pair. Rows are fewer than 2^21.
function sortedBy(numbers, keyOf, desc) {
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

// --- index: what a search needs is read by ranges, and what was read is kept for the next letter.

const KEPT_BLOCKS = 800;
const GAP = 8_000; // so many bytes between two blocks are read along: they cost less than another request
const MOST_BYTES = 400_000; // of one range of rows

class Index {
  constructor(base, manifest) {
    this.base = base;
    this.manifest = manifest;
    this.fold = folding(manifest.fold);
    this.loaded = manifest.rows;
    this.kept = new Map();
    this.files = new Map();
    this.heads = new Map();
    this.blocks = [];
    this.starts = null;
    this.last = { key: null, numbers: null };
  }

  async load() {
    const { rows, directory } = this.manifest.index;
    const [sizes, told] = await Promise.all([this.file(rows.lengths), this.file(directory)]);
    const lengths = new Uint32Array(sizes.buffer);
    this.starts = new Float64Array(lengths.length + 1);
    lengths.forEach((size, number) => (this.starts[number + 1] = this.starts[number] + size));
    const { heads, blocks } = JSON.parse(decoder.decode(told));
    this.heads = new Map(heads.map(([term, ...place]) => [term, place]));
    this.blocks = blocks;
  }

  // A file that is read whole, once.
  file(name) {
    return once(this.files, name, async () => inflated(new Uint8Array(await (await fetched(this.base + name)).arrayBuffer()), "deflate-raw"));
  }

  async range(name, start, length) {
    // Past the browser's cache: it lets only one range of a file on its way at a time.
    const answer = await fetched(this.base + name, { cache: "no-store", headers: { Range: `bytes=${start}-${start + length - 1}` } });
    const bytes = new Uint8Array(await answer.arrayBuffer());
    return answer.status === 206 ? bytes : bytes.subarray(start, start + length);
  }

  // What was used last stays.
  remembered(key, make) {
    const known = this.kept.get(key);
    if (known) this.kept.delete(key);
    if (known) this.kept.set(key, known);
    while (this.kept.size > KEPT_BLOCKS) this.kept.delete(this.kept.keys().next().value);
    return known ?? once(this.kept, key, make);
  }

  // --- words

  // The block that a term is in, if it is anywhere.
  blockOf(term) {
    let low = 0, high = this.blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (compareBytes(this.blocks[middle][0], term) <= 0) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  // The blocks from one to another lie side by side: one range.
  async terms(first, last) {
    return this.remembered(`t${first}-${last}`, async () => {
      const begin = this.blocks[first][1], [, start, length] = this.blocks[last];
      const bytes = await this.range(this.manifest.index.terms, begin, start + length - begin);
      const parts = this.blocks.slice(first, last + 1);
      return Promise.all(parts.map(async ([, at, size]) => readTerms(await inflated(bytes.subarray(at - begin, at - begin + size), "deflate-raw"))));
    });
  }

  // The rows of all terms that fit. Those that begin with `low` lie side by side, and so do their rows.
  async rowsOf(low, isIn) {
    if (!this.blocks.length) return new Uint32Array();
    const first = this.blockOf(low);
    let last = first;
    while (last + 1 < this.blocks.length && isIn(this.blocks[last + 1][0])) last++;
    const wanted = (await this.terms(first, last)).flatMap((block) => block.wanted(isIn));
    if (!wanted.length) return new Uint32Array();
    const chunks = [...new Set(wanted.map(({ chunk }) => chunk))];
    const texts = await this.remembered(`p${chunks[0].start}-${chunks.at(-1).start}`, () => this.postings(chunks));
    return united(wanted.map((entry) => readPostings(texts.get(entry.chunk.start), entry)), this.manifest.rows);
  }

  async postings(chunks) {
    const begin = chunks[0].start, end = chunks.at(-1).start + chunks.at(-1).length;
    const bytes = await this.range(this.manifest.index.postings, begin, end - begin);
    const read = async ({ start, length }) => [start, await inflated(bytes.subarray(start - begin, start - begin + length), "deflate-raw")];
    return new Map(await Promise.all(chunks.map(read)));
  }

  async head(term) {
    const [rows, start, length] = this.heads.get(term);
    return this.remembered(`h${term}`, async () => readPostings(await inflated(await this.range(this.manifest.index.postings, start, length), "deflate-raw"), { offset: 0, rows }));
  }

  async exactly(term) {
    return this.heads.has(term) ? this.head(term) : this.rowsOf(term, (other) => other === term);
  }

  async beginning(start) {
    return this.heads.has(`\x02${start}`) ? this.head(`\x02${start}`) : this.rowsOf(start, (other) => other.startsWith(start));
  }

  async ofTerm(term) {
    const words = term.match(WORDS) || [];
    const digits = digitsOf(term);
    const [other, ...lists] = await Promise.all([digits ? this.beginning(digits) : null, ...words.map((word) => this.beginning(word))]);
    const found = lists.length ? common(lists) : this.everyRow();
    return other ? united([found, other], this.manifest.rows) : found;
  }

  everyRow() {
    return (this.all ??= everyRow(this.manifest.rows));
  }

  // --- views

  async search(view) {
    const key = JSON.stringify(view);
    if (this.last.key !== key) {
      const numbers = await this.found(view);
      this.last = { key, numbers };
      return numbers;
    }
    return this.last.numbers;
  }

  async found(view) {
    const terms = termsOf(view.q, this.fold);
    const isRanked = terms.length > 0 && (view.sort || "best") === "best";
    const [sets, lacking, ratings, named] = await Promise.all([
      Promise.all([...terms.map((term) => this.ofTerm(term)), ...this.filters(view)]),
      Promise.all((view.lacks || []).map((name) => this.exactly(`\x01has=${name}`))),
      view.min_rating != null ? this.column("rating") : null,
      isRanked ? this.namedSo(terms.join(" ")) : null,
    ]);
    let found = sets.length ? common(sets) : this.everyRow();
    for (const list of lacking) found = without(found, list);
    if (view.min_rating != null) {
      const least = Math.round(view.min_rating * 100) + 1;
      found = found.filter((number) => ratings && ratings.codes[number] >= least);
    }
    return isRanked ? ahead(found, named) : this.sorted(found, view);
  }

  filters(view) {
    const sets = (view.has || []).map((name) => this.exactly(`\x01has=${name}`));
    for (const facet in FACETS) {
      const lists = (view[facet] || []).map((value) => this.exactly(`\x01${facet}=${value}`));
      if (facet === "tag") sets.push(...lists);
      else if (lists.length) sets.push(Promise.all(lists).then((read) => united(read, this.manifest.rows)));
    }
    return sets;
  }

  // The rows whose name begins so: rows are in the order of their names, so they lie side by side, from one number up to another.
  async namedSo(start) {
    const { firsts, block } = this.manifest.index.rows;
    this.firsts ??= decoder.decode(await this.file(firsts)).split("\n");
    const begin = Math.max(0, firstAt(this.firsts.length, (place) => this.firsts[place] >= start) - 1);
    const end = Math.max(begin, firstAt(this.firsts.length, (place) => this.firsts[place] > start && !this.firsts[place].startsWith(start)) - 1);
    const [low, high] = await this.lines([begin, end]);
    const name = this.manifest.columns.indexOf("name");
    const names = (lines) => lines.map((line) => this.fold(line.split("\t")[name]));
    const from = names(low), to = names(high);
    return [begin * block + firstAt(from.length, (place) => from[place] >= start), end * block + firstAt(to.length, (place) => to[place] > start && !to[place].startsWith(start))];
  }

  async sorted(found, view) {
    const sort = view.sort || "best";
    if (sort === "best" || sort === "name") return view.desc ? found.slice().reverse() : found;
    const column = await this.column(sort);
    return column ? sortedBy(found, (number) => column.codes[number], view.desc) : found;
  }

  // --- columns and rows

  async column(name) {
    const about = this.manifest.index.columns[name];
    if (!about) return null;
    const [codes, values] = await Promise.all([this.file(about.codes), about.values ? this.file(about.values) : null]);
    const Codes = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array }[about.width];
    return new Column(new Codes(codes.buffer), ["", ...(values ? JSON.parse(decoder.decode(values)) : [])]);
  }

  async cells(numbers) {
    const { block } = this.manifest.index.rows;
    const wanted = [...new Set(Array.from(numbers, (number) => Math.floor(number / block)))];
    const texts = new Map((await this.lines(wanted)).map((lines, place) => [wanted[place], lines]));
    return Array.from(numbers, (number) => texts.get(Math.floor(number / block))[number % block].split("\t"));
  }

  // The lines of blocks. Those that lie close to each other come by one request.
  async lines(places) {
    const had = new Map(places.map((place) => [place, this.kept.get(`r${place}`)]));
    const missing = [...had.keys()].filter((place) => !had.get(place)).sort((one, other) => one - other);
    const ranges = [];
    for (const place of missing) {
      const range = ranges.at(-1), end = this.starts[place + 1];
      const isNear = range && this.starts[place] - range.end <= GAP && end - range.start <= MOST_BYTES;
      if (isNear) range.end = end;
      else ranges.push({ start: this.starts[place], end, places: [] });
      ranges.at(-1).places.push(place);
    }
    const coming = new Map(ranges.flatMap((range) => {
      const bytes = this.range(this.manifest.index.rows.file, range.start, range.end - range.start);
      return range.places.map((place) => [place, bytes.then((read) => inflated(read.subarray(this.starts[place] - range.start, this.starts[place + 1] - range.start), "deflate-raw"))]);
    }));
    const texts = places.map((place) => this.remembered(`r${place}`, () => had.get(place) ?? coming.get(place).then((bytes) => decoder.decode(bytes))));
    return (await Promise.all(texts)).map((text) => text.split("\n"));
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

// A promise for each key. One that fails is made anew when it is asked for again.
function once(known, key, make) {
  if (!known.has(key)) {
    const made = make();
    made.catch(() => known.delete(key));
    known.set(key, made);
  }
  return known.get(key);
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

// Those between two numbers first, all in their order.
function ahead(found, [from, to]) {
  const first = firstAt(found.length, (place) => found[place] >= from), last = firstAt(found.length, (place) => found[place] >= to);
  if (first === 0 || first === last) return found;
  const all = new Uint32Array(found.length);
  all.set(found.subarray(first, last));
  all.set(found.subarray(0, first), last - first);
  all.set(found.subarray(last), last);
  return all;
}

function numberReader(bytes) {
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
    rest: () => bytes.subarray(place),
  };
}

// The terms of a block, and where the rows of each are.
class TermBlock {
  constructor(chunks, counts, sizes, terms) {
    Object.assign(this, { chunks, counts, sizes, terms });
  }
  wanted(isIn) {
    const found = [];
    let at = 0;
    for (const chunk of this.chunks) {
      let offset = 0;
      for (const end = at + chunk.terms; at < end; offset += this.sizes[at++])
        if (isIn(this.terms[at])) found.push({ chunk, offset, rows: this.counts[at] });
    }
    return found;
  }
}

function readTerms(bytes) {
  const from = numberReader(bytes);
  let start = from.number();
  const chunks = Array.from({ length: from.number() }, () => {
    const chunk = { start, length: from.number(), terms: from.number() };
    start += chunk.length;
    return chunk;
  });
  const total = chunks.reduce((sum, chunk) => sum + chunk.terms, 0);
  const counts = Uint32Array.from({ length: total }, from.number), sizes = Uint32Array.from({ length: total }, from.number);
  return new TermBlock(chunks, counts, sizes, decoder.decode(from.rest()).split("\n"));
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

// Each row once, in order. Of many rows by a mark for each that there is.
function united(lists, rows) {
  if (lists.length < 2) return lists[0] || new Uint32Array();
  const length = lists.reduce((sum, list) => sum + list.length, 0);
  if (length > rows / 32) return marked(lists, rows);
  const all = new Uint32Array(length);
  let place = 0;
  for (const list of lists) {
    all.set(list, place);
    place += list.length;
  }
  all.sort();
  return all.filter((number, index) => !index || all[index - 1] !== number);
}

function marked(lists, rows) {
  const marks = new Uint8Array(rows);
  for (const list of lists) for (let place = 0; place < list.length; place++) marks[list[place]] = 1;
  let total = 0;
  for (let number = 0; number < rows; number++) total += marks[number];
  const all = new Uint32Array(total);
  for (let number = 0, place = 0; number < rows; number++) if (marks[number]) all[place++] = number;
  return all;
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
  if (manifest.schema !== "cocli.web-prospects/2") throw new Error(`This page does not know ${manifest.schema}. Load it again.`);
  return manifest.mode === "index" ? new Index(base, manifest) : new Lines(base, manifest);
}

export function rowsOf(search, cells) {
  const { columns } = search.manifest;
  const lists = new Set(["emails", ...Object.values(FACETS).filter((name) => name.endsWith("s") && name !== "status")]);
  return cells.map((row) => Object.fromEntries(columns.map((name, place) => [name, lists.has(name) ? row[place].split(BETWEEN).filter(Boolean) : row[place]])));
}
