// The Worker behind the screen Prospects: questions come and answers go as messages (docs/web-data.md, The search index).

import { openSearch, rowsOf } from "./search.js";
import { firstAt } from "./search/columns.js";

const PART = 4096; // so many rows are read at once

let search = null;
let ready = Promise.resolve();

// A file that is gone was of an earlier state of the list: the list is opened anew, once.
const isGone = (error) => error.message.includes("HTTP status 404");

async function opened({ base }, isSecond = false) {
  const fresh = await openSearch(base);
  const { mode, rows, columns, facets, sorts, at } = fresh.manifest;
  search = fresh;
  ready = fresh.load((loaded) => search === fresh && postMessage({ event: "progress", loaded, rows }));
  ready.then(
    () => search === fresh && postMessage({ event: "progress", loaded: rows, rows }),
    (error) => {
      if (search !== fresh) return;
      if (isGone(error) && !isSecond) ready = opened({ base }, true).then(() => ready);
      else postMessage({ event: "failed", error: error.message });
    },
  );
  if (mode === "index") await ready;
  return { mode, rows, columns, facets, sorts, at };
}

async function found({ view = {}, offset = 0, limit = 100, facets = [] }) {
  const began = performance.now();
  const numbers = await search.search(view);
  const rows = rowsOf(search, await search.cells(numbers.slice(offset, offset + limit)));
  const counted = await search.facets(facets, numbers);
  const complete = search.loaded === search.manifest.rows;
  return { total: numbers.length, rows, facets: counted, complete, ms: performance.now() - began };
}

async function facetsOf({ view = {}, facets = [] }) {
  return { facets: await search.facets(facets, await search.search(view)) };
}

// In the order of the view, read in the order of the rows: so every block is read once.
async function ids({ view = {} }) {
  await ready;
  const place = search.manifest.columns.indexOf("id");
  const numbers = await search.search(view);
  const rows = numbers.slice().sort();
  const known = [];
  for (let at = 0; at < rows.length; at += PART) for (const row of await search.cells(rows.subarray(at, at + PART))) known.push(row[place]);
  return { ids: Array.from(numbers, (number) => known[firstAt(rows.length, (at) => rows[at] >= number)]) };
}

async function points({ view = {}, limit = 10000 }) {
  const numbers = await search.search({ ...view, has: [...(view.has || []), "position"] });
  const [lon, lat, id, name] = ["lon", "lat", "id", "name"].map((column) => search.manifest.columns.indexOf(column));
  const cells = await search.cells(numbers.slice(0, limit));
  return { total: numbers.length, points: cells.map((row) => [Number(row[lon]), Number(row[lat]), row[id], row[name]]) };
}

const answers = { open: opened, search: found, facets: facetsOf, ids, points };

addEventListener("message", async ({ data }) => {
  try {
    const answer = answers[data.ask];
    if (!answer) throw new Error(`There is no question ${data.ask}.`);
    if (!search && data.ask !== "open") throw new Error("Open a campaign first.");
    const again = async (error) => {
      if (!isGone(error) || data.ask === "open") throw error;
      await opened({ base: search.base });
      return answer(data);
    };
    postMessage({ id: data.id, ok: true, ...(await answer(data).catch(again)) });
  } catch (error) {
    postMessage({ id: data.id, ok: false, error: error.message });
  }
});
