// An index that is read by ranges and finds beginnings of words. What was read is kept for the next letter.
import { Column, everyRow, FACETS, firstAt, sortedBy } from "./columns.js";
import { fetched, inflated } from "./files.js";
import { compareBytes, decoder, digitsOf, folding, termsOf } from "./texts.js";

const WORDS = /[\p{L}\p{N}]+/gu;
const KEPT_BLOCKS = 800;
const GAP = 8_000; // so many bytes between two blocks are read along: they cost less than another request
const MOST_BYTES = 400_000; // of one range of rows

export class Index {
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
