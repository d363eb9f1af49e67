// The search over prospects, without any page: lines that are loaded whole, or an index that is read by ranges.
// `cocli.app.web.prospects` writes the files and has the same search in Python; a test compares the two.
import { BETWEEN, FACETS } from "./search/columns.js";
import { fetched } from "./search/files.js";

export async function openSearch(base) {
  const manifest = await (await fetched(base + "manifest.json", { cache: "no-cache" })).json();
  if (manifest.schema !== "cocli.web-prospects/2") throw new Error(`This page does not know ${manifest.schema}. Load it again.`);
  if (manifest.mode === "index") return new (await import("./search/ranges.js")).Index(base, manifest);
  return new (await import("./search/lines.js")).Lines(base, manifest);
}

export function rowsOf(search, cells) {
  const { columns } = search.manifest;
  const lists = new Set(["emails", ...Object.values(FACETS).filter((name) => name.endsWith("s") && name !== "status")]);
  return cells.map((row) => Object.fromEntries(columns.map((name, place) => [name, lists.has(name) ? row[place].split(BETWEEN).filter(Boolean) : row[place]])));
}
