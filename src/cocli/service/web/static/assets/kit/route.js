// Where the reader is. Every view and every filter is in the address, so that a link says all.
import { shared } from "./dom.js";

const current = shared(new URLSearchParams(location.search));

export const useRoute = () => current.use();
export const here = () => current.read();

// A search string for the parameters; what is null or empty is left out, and lists are repeated.
export function address(values) {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    const all = Array.isArray(value) ? value : [value];
    for (const each of all) if (each !== null && each !== undefined && each !== "" && each !== false) parts.append(name, each === true ? "1" : each);
  }
  return `?${parts}`;
}

// The address here with some parameters changed.
export function changed(values) {
  const all = {};
  for (const name of new Set(current.read().keys())) all[name] = current.read().getAll(name);
  return address({ ...all, ...values });
}

// Where another host has the tiles of the map, screens with a map are opened in a document that may ask it.
const MAP_PAGE = "map.html";
let hasMapPage = false;
const showsMap = (route) => ["coverage", "run"].includes(route.get("view")) || (route.get("view") === "prospects" && route.get("show") === "map");
const isMapPage = () => location.pathname.endsWith(`/${MAP_PAGE}`);

// Another document for the route, or null where it belongs into this one.
function otherPage(route) {
  if (!hasMapPage || showsMap(route) === isMapPage()) return null;
  return `${isMapPage() ? "index.html" : MAP_PAGE}?${route}`;
}

// True where the browser goes on to another document.
export function openRightPage(basemap) {
  hasMapPage = Boolean(basemap) && new URL(basemap, document.baseURI).origin !== location.origin;
  const other = otherPage(current.read());
  if (other) location.replace(other);
  return Boolean(other);
}

export function go(search, { replace = false, keepScroll = false } = {}) {
  const other = otherPage(new URLSearchParams(search));
  if (other) { location[replace ? "replace" : "assign"](other); return; }
  const same = new URLSearchParams(search).toString() === current.read().toString();
  if (!same) history[replace ? "replaceState" : "pushState"](null, "", search);
  const before = current.read();
  current.write(new URLSearchParams(search));
  if (keepScroll || before.get("view") === current.read().get("view")) return;
  scrollTo(0, 0);
  requestAnimationFrame(() => document.getElementById("main")?.focus({ preventScroll: true }));
}

// Links to `?…` stay in the page. What the browser does with a modifier key stays the browser's.
export function followLinks() {
  addEventListener("popstate", () => current.write(new URLSearchParams(location.search)));
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target.closest?.("a[href^='?']");
    if (!link || link.target) return;
    event.preventDefault();
    go(link.getAttribute("href"));
  });
}
