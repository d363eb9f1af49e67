// The rows: a real table of which only what is seen is in the page.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../../kit/dom.js";
import { Icon } from "../../kit/icon.js";
import { address, changed, go } from "../../kit/route.js";
import { count, plain, tenth, words } from "../../kit/format.js";
import { viewAddress } from "../../kit/search.js";

const AROUND = 12;
const MOST_PAGES = 40;
const COLUMNS = [["name", "Name", "c-name", "name"], ["city", "Town", "c-city", "city"], ["categories", "Kind", "c-kind"], ["phone", "Phone", "c-phone"], ["email", "E-mail", "c-mail"], ["domain", "Website", "c-web"], ["rating", "Rating", "num c-rating", "rating"]];

const narrow = matchMedia("(max-width: 699px)");
const listOf = (value) => (Array.isArray(value) ? value : value ? String(value).split("\u001f") : []);

// Pages of rows, asked for when they come near, and forgotten when they are far.
function usePages(search, view, answer, size) {
  const store = useRef(new Map());
  const [, tick] = useState(0);
  const key = `${answer.key} ${answer.total} ${answer.complete}`;
  const shown = useRef(key);
  if (shown.current !== key) { shown.current = key; store.current = new Map(); }
  if (!store.current.has(0)) store.current.set(0, answer.rows);
  const want = (page) => {
    if (store.current.has(page)) return;
    store.current.set(page, null);
    if (store.current.size > MOST_PAGES) for (const far of [...store.current.keys()].filter((each) => each && Math.abs(each - page) > MOST_PAGES / 3)) store.current.delete(far);
    const asked = shown.current;
    search.ask("search", { view, offset: page * size, limit: size, facets: [] }).then((found) => {
      if (shown.current !== asked) return;
      store.current.set(page, found.rows);
      tick((value) => value + 1);
    }, () => store.current.delete(page));
  };
  return (at) => { const page = Math.floor(at / size); want(page); return store.current.get(page)?.[at % size] ?? null; };
}

function Row({ row, at, height, campaign, picked, pick, isSelected, isFocus, choose }) {
  if (!row) return html`<tr style=${{ height: `${height}px` }} aria-rowindex=${at + 2}><td colspan="8"><span class="dim">…</span></td></tr>`;
  const kinds = listOf(row.categories);
  const open = address({ campaign, view: "company", id: row.id });
  const tick = () => { const next = new Set(picked); if (!next.delete(row.id)) next.add(row.id); pick(next); };
  const click = (event) => { if (!event.target.closest("a, input, label")) narrow.matches ? go(open) : choose(row.id); };
  return html`<tr style=${{ height: `${height}px` }} data-row data-id=${row.id} data-at=${at} tabindex=${isFocus ? 0 : -1} aria-rowindex=${at + 2} aria-selected=${isSelected ? "true" : undefined} onClick=${click}>
    ${pick && html`<td class="c-pick"><input type="checkbox" checked=${picked.has(row.id)} onChange=${tick} aria-label=${`Select ${plain(row.name)}`} tabindex="-1" /></td>`}
    <td class="c-name"><a href=${open} tabindex="-1" class="clip">${plain(row.name)}</a><span class="below clip">${[row.city, row.email || row.phone].filter(Boolean).map(plain).join(" · ")}</span></td>
    <td class="c-city"><span class="clip">${plain(row.city)}</span></td><td class="c-kind"><span class="clip">${words(kinds[0])}${kinds.length > 1 ? html` <span class="dim">+${kinds.length - 1}</span>` : ""}</span></td>
    <td class="c-phone"><span class="clip">${plain(row.phone)}</span></td><td class="c-mail"><span class="clip">${plain(row.email)}</span></td><td class="c-web"><span class="clip">${plain(row.domain)}</span></td>
    <td class="num c-rating">${row.rating ? html`${tenth(Number(row.rating))} <span class="dim">(${count(Number(row.reviews) || 0)})</span>` : ""}</td></tr>`;
}

function Head({ view, pick }) {
  return html`<thead><tr aria-rowindex="1">${pick && html`<th class="c-pick"><span class="only-heard">Select</span></th>`}${COLUMNS.map(([, label, kind, sort]) => {
    const is = sort && view.sort === sort;
    const turn = () => go(changed({ sort, desc: is ? (view.desc ? null : "1") : sort === "rating" ? "1" : null }), { replace: true });
    return html`<th scope="col" class=${kind} aria-sort=${is ? (view.desc ? "descending" : "ascending") : undefined}>${sort ? html`<button type="button" onClick=${turn}>${label}${is && html`<${Icon} name=${view.desc ? "down" : "up"} size=${12} />`}</button>` : label}</th>`;
  })}</tr></thead>`;
}

export function Rows({ search, view, answer, page: size, campaign, picked, pick, selected, choose }) {
  const box = useRef();
  const [top, setTop] = useState(0);
  const [room, setRoom] = useState(600);
  const [focus, setFocus] = useState(0);
  const [isNarrow, setNarrow] = useState(narrow.matches);
  const height = isNarrow ? 52 : 28;
  const rowAt = usePages(search, view, answer, size);
  const key = viewAddress(view);
  useEffect(() => { box.current.scrollTop = 0; setTop(0); setFocus(0); }, [key]);
  useLayoutEffect(() => {
    const watch = new ResizeObserver(([entry]) => setRoom(entry.contentRect.height));
    watch.observe(box.current);
    const turn = () => setNarrow(narrow.matches);
    narrow.addEventListener("change", turn);
    return () => { watch.disconnect(); narrow.removeEventListener("change", turn); };
  }, []);
  const first = Math.max(0, Math.floor(top / height) - AROUND);
  const last = Math.min(answer.total, Math.ceil((top + room) / height) + AROUND);
  const walk = (event) => {
    if (event.target.matches("input") && event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const page = Math.max(1, Math.floor(room / height) - 2);
    const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key === "Enter" && event.target.matches("[data-row]")) { event.preventDefault(); event.target.querySelector("a").click(); return; }
    if (event.key === " " && event.target.matches("[data-row]")) { event.preventDefault(); choose(event.target.dataset.id); return; }
    if (event.key === "x" && pick && event.target.matches("[data-row]")) { event.target.querySelector("input").click(); return; }
    if (!(event.key in steps) || !event.target.closest("[data-row]")) return;
    event.preventDefault();
    event.stopPropagation();
    const at = Math.max(0, Math.min(answer.total - 1, Number(event.target.closest("[data-row]").dataset.at) + steps[event.key]));
    setFocus(at);
    const head = 29;
    const view0 = box.current.scrollTop;
    if (at * height < view0) box.current.scrollTop = at * height;
    if ((at + 1) * height + head > view0 + room) box.current.scrollTop = (at + 1) * height + head - room;
    setTop(box.current.scrollTop);
    // At once where the row is there: the next key may be pressed before the next frame.
    const reach = (tries) => { const row = box.current?.querySelector(`[data-at="${at}"]`); if (row) row.focus({ preventScroll: true }); else if (tries) setTimeout(() => reach(tries - 1), 30); };
    reach(20);
  };
  const numbers = Array.from({ length: Math.max(0, last - first) }, (_, step) => first + step);
  const seen = focus >= first && focus < last ? focus : first;
  return html`<div class=${`table rows ${answer.rows.some((row) => row.rating) ? "" : "unrated"}`} ref=${box} role="region" aria-label="Prospects" tabindex="-1" onScroll=${(event) => setTop(event.target.scrollTop)}>
    <table aria-rowcount=${answer.total + 1} onKeyDown=${walk}><${Head} view=${view} pick=${pick} />
      <tbody>${first > 0 && html`<tr aria-hidden="true" class="room" style=${{ height: `${first * height}px` }} />`}
      ${numbers.map((at) => { const row = rowAt(at); return html`<${Row} key=${at} row=${row} at=${at} height=${height} campaign=${campaign} picked=${picked} pick=${pick} isSelected=${row && row.id === selected} isFocus=${at === seen} choose=${choose} />`; })}
      ${last < answer.total && html`<tr aria-hidden="true" class="room" style=${{ height: `${(answer.total - last) * height}px` }} />`}</tbody></table></div>`;
}
