// Prospects: search as you type, facets, the rows, a preview. Which rows is all in the address.
import { html, useEffect, useMemo, useRef, useState } from "../kit/dom.js";
import { isLive, may } from "../kit/server.js";
import { Bones, Dialog, Empty, Menu, Notice, Problem, tell } from "../kit/parts.js";
import { Icon } from "../kit/icon.js";
import { Search, viewAddress, viewOf } from "../kit/search.js";
import { address, changed, go } from "../kit/route.js";
import { count, plain, plural, tenth, words } from "../kit/format.js";
import { csvOf, save } from "../kit/sheet.js";
import { AsOf, dayOf } from "../kit/as_of.js";
import { PastRows } from "./prospects/past.js";
import { Rows } from "./prospects/rows.js";
import { Facets } from "./prospects/facets.js";
import { Preview } from "./prospects/preview.js";
import { Bulk } from "./prospects/bulk.js";

const FORMATS = [["csv", "CSV"], ["xlsx", "Excel (XLSX)"], ["parquet", "Parquet"], ["geojson", "GeoJSON"], ["kml", "KML"], ["vcard", "vCard"], ["hubspot", "HubSpot CSV"]];
const SORTS = [["best", "Best match"], ["name", "Name"], ["city", "Town"], ["rating", "Rating"], ["reviews", "Reviews"], ["updated", "Updated"]];
const PAGE = 5000;

function useSearch(campaign) {
  const [state, setState] = useState({ search: null, info: null, progress: null, problem: null });
  useEffect(() => {
    if (!campaign) return undefined;
    const search = new Search(campaign, (progress) => setState((last) => ({ ...last, progress })));
    setState({ search, info: null, progress: null, problem: null });
    search.opened.then((info) => setState((last) => ({ ...last, info })), (problem) => setState((last) => ({ ...last, problem })));
    return () => search.close();
  }, [campaign]);
  return state;
}

// The answer for a view: how many, and the facets. It is asked again while lines still come in.
function useAnswer({ search, info, progress }, view) {
  const [answer, setAnswer] = useState(null);
  const key = viewAddress(view);
  const step = progress && !progress.done ? Math.floor(progress.loaded / 20000) : -1;
  const complete = progress && progress.loaded >= progress.rows;
  useEffect(() => {
    if (!info) return undefined;
    let stays = true;
    const names = Object.keys(info.facets), byRanges = info.mode === "index";
    const fail = (problem) => stays && setAnswer({ key, problem, total: 0, rows: [], facets: {} });
    const hold = (found) => {
      if (!stays) return;
      setAnswer((last) => ({ ...found, key, problem: null, ...(byRanges ? { facets: last?.facets ?? {}, counting: true } : {}) }));
      // Rows first: counting reads whole columns when it is first asked for.
      if (byRanges) search.ask("facets", { view, facets: names }).then(({ facets }) => stays && setAnswer((last) => ({ ...last, facets, counting: false })), fail);
    };
    search.ask("search", { view, offset: 0, limit: pageOf(info), facets: byRanges ? [] : names }).then(hold, fail);
    return () => { stays = false; };
  }, [search, info, key, step, complete]);
  return answer;
}

// By ranges every row may be a request: only what is seen is asked for.
const pageOf = (info) => (info.mode === "index" ? 40 : 100);

function SearchBox({ view }) {
  const [text, type] = useState(view.q);
  const sent = useRef([view.q]);
  // The address follows what is typed, later. Only a word that was not typed here replaces the text.
  useEffect(() => {
    const known = sent.current.indexOf(view.q);
    sent.current = sent.current.slice(known + 1);
    if (known < 0) { sent.current = []; type(view.q); }
  }, [view.q]);
  const input = (event) => {
    type(event.target.value);
    sent.current.push(event.target.value);
    go(changed({ q: event.target.value, sel: null }), { replace: true });
  };
  return html`<div class="search"><${Icon} name="search" /><input type="search" aria-label="Search prospects" placeholder="Name, town, domain, e-mail, phone …" value=${text} onInput=${input} /><kbd>/</kbd></div>`;
}

// Views with a name, kept in this browser.
function SavedViews({ campaign, view }) {
  const place = `cocli.views.${campaign}`;
  const read = () => { try { return JSON.parse(localStorage.getItem(place) ?? "{}"); } catch { return {}; } };
  const [views, setViews] = useState(read);
  const [naming, setNaming] = useState(false);
  const keep = (next) => { setViews(next); try { localStorage.setItem(place, JSON.stringify(next)); } catch { tell({ tone: "bad", title: "This browser keeps no views" }); } };
  const submit = (event) => { event.preventDefault(); const name = event.target.elements.name.value.trim(); if (name) keep({ ...views, [name]: viewAddress(view) }); setNaming(false); };
  return html`<${Menu} label="Views" icon="star"><p>Saved in this browser</p>
      ${Object.entries(views).map(([name, search]) => html`<a href=${`${address({ campaign, view: "prospects" })}&${search}`}>${plain(name)}</a>`)}
      ${Object.keys(views).length === 0 && html`<p>None yet</p>`}
      <button type="button" onClick=${() => setNaming(true)}><${Icon} name="plus" />Save this view …</button>
      ${Object.keys(views).length > 0 && html`<button type="button" onClick=${() => keep({})}><${Icon} name="close" />Forget all</button>`}
    </${Menu}>
    ${naming && html`<${Dialog} title="Save this view" onClose=${() => setNaming(false)}><form onSubmit=${submit}><div class="body"><label class="field"><span>Name</span><input name="name" type="text" required maxlength="60" autofocus /></label><p class="dim">The address of this page says the same: you can also send that.</p></div><footer><button class="button main">Save</button></footer></form></${Dialog}>`}`;
}

function Export({ campaign, view, search, info, total }) {
  const query = viewAddress(view);
  if (isLive()) {
    const link = (format) => `api/${encodeURIComponent(campaign)}/export?format=${format}${query ? `&${query}` : ""}`;
    return html`<${Menu} label="Export" icon="download"><p>Exactly these ${plural(total ?? 0, "row")}</p>${FORMATS.map(([format, label]) => html`<a href=${link(format)} download>${label}</a>`)}</${Menu}>`;
  }
  const make = async () => {
    const rows = [];
    for (let offset = 0; offset < total; offset += PAGE) rows.push(...(await search.ask("search", { view, offset, limit: PAGE, facets: [] })).rows);
    save(`${campaign}-view.csv`, csvOf(info.columns, rows));
    tell({ title: `Saved ${plural(rows.length, "row")} as CSV` });
  };
  return html`<${Menu} label="Export" icon="download"><p>Exactly these ${plural(total ?? 0, "row")}</p><button type="button" onClick=${make}>CSV</button><p>Other formats of the whole campaign are under Downloads.</p></${Menu}>`;
}

function Chips({ view }) {
  const chips = [];
  for (const name of ["city", "region", "country", "category", "tag", "status", "source", "has", "lacks"]) {
    for (const value of view[name]) chips.push({ text: name === "has" ? `has ${words(value)}` : name === "lacks" ? `no ${words(value)}` : words(value), to: changed({ [name]: view[name].filter((each) => each !== value), sel: null }) });
  }
  if (view.min_rating) chips.push({ text: `rating ${tenth(view.min_rating)} and more`, to: changed({ min_rating: null, sel: null }) });
  if (!chips.length) return null;
  return html`<div class="line chips">${chips.map((chip) => html`<a class="chip on" href=${chip.to} aria-label=${`Remove ${chip.text}`}>${chip.text}<${Icon} name="close" size=${12} /></a>`)}<a class="chip" href=${changed({ city: null, region: null, country: null, category: null, tag: null, status: null, source: null, has: null, lacks: null, min_rating: null, sel: null })}>Clear all</a></div>`;
}

function Modes({ onMap }) {
  return html`<div class="joined" role="group" aria-label="Show as"><a class="button" aria-current=${onMap ? undefined : "true"} aria-pressed=${onMap ? undefined : "true"} role="button" href=${changed({ show: null })}><${Icon} name="prospects" />List</a><a class="button" role="button" aria-pressed=${onMap ? "true" : undefined} href=${changed({ show: "map" })}><${Icon} name="coverage" />Map</a></div>`;
}

function Told({ answer, progress, info }) {
  if (!answer) return html`<span class="dim">Reading …</span>`;
  const loading = progress && progress.loaded < progress.rows;
  return html`<span class="dim" role="status"><b class="strong">${count(answer.total)}</b> of ${count(info.rows)}${info.mode === "index" ? ", words by their beginnings" : ""}${loading ? `, ${count(progress.loaded)} read so far` : ""}</span>`;
}

export function Screen({ campaign, route }) {
  const day = dayOf(route);
  const state = useSearch(day ? null : campaign); // the past is asked of the server
  const view = useMemo(() => viewOf(route), [route]);
  const answer = useAnswer(state, view);
  const [picked, pick] = useState(() => new Set());
  const [maps, setMap] = useState(null);
  const { search, info, progress, problem } = state;
  const sorts = SORTS.map(([name, label]) => (name === "best" && info?.mode === "index" ? [name, "Names that begin so"] : [name, label]));
  const onMap = route.get("show") === "map";
  const selected = route.get("sel");
  useEffect(() => { if (onMap) import("./map/points.js").then(setMap); }, [onMap]);
  useEffect(() => pick(new Set()), [campaign]);
  const modes = html`<${Modes} onMap=${onMap} />`;
  if (day) return html`<${PastRows} campaign=${campaign} day=${day} view=${view} onMap=${onMap} Map=${maps?.RowPoints} modes=${modes} />`;
  if (problem) return html`<header><h1>Prospects</h1></header><div class="card"><${Problem} problem=${problem} what="the prospects" /></div>`;
  const choose = (id) => go(changed({ sel: id }), { replace: true, keepScroll: true });
  return html`<header><h1>Prospects</h1><${Told} answer=${answer} progress=${progress} info=${info} /><span class="spacer" />
      <${AsOf} />${modes}
      <${SavedViews} campaign=${campaign} view=${view} /><${Export} campaign=${campaign} view=${view} search=${search} info=${info} total=${answer?.total} /></header>
    <div class="line find"><${SearchBox} view=${view} /><label class="line"><span class="dim">Sort</span><select class="slim" value=${view.sort} onChange=${(event) => go(changed({ sort: event.target.value === "best" ? null : event.target.value, desc: ["rating", "reviews", "updated"].includes(event.target.value) ? "1" : null }), { replace: true })}>${sorts.map(([name, label]) => html`<option value=${name} selected=${view.sort === name}>${label}</option>`)}</select></label></div>
    <${Chips} view=${view} />
    ${answer?.problem && html`<${Notice} tone="bad" title="This cannot be searched"><p>${plain(answer.problem.message)}</p></${Notice}>`}
    <div class=${`finding ${selected && !onMap ? "with-preview" : ""}`}>
      <${Facets} answer=${answer} view=${view} />
      <div class="card rows-card">
        ${!onMap && (!info || !answer) && html`<div class="pad"><${Bones} lines=${12} /></div>`}
        ${onMap ? maps && answer && html`<${maps.Points} search=${search} view=${view} campaign=${campaign} mode=${info.mode} round=${`${answer.total} ${answer.complete}`} />` : info && answer && (answer.total ? html`<${Rows} search=${search} view=${view} answer=${answer} page=${pageOf(info)} campaign=${campaign} picked=${picked} pick=${may("editor", campaign) ? pick : null} selected=${selected} choose=${choose} />` : html`<${Empty} icon="search" title=${info.rows ? "Nothing matches" : "No prospects yet"}><p>${info.rows ? info.mode === "index" ? "In a list this long a word is found by its beginning: “plumb” finds Plumbing, “umb” does not. Fewer words or fewer filters find more." : "Fewer words or fewer filters find more." : "They appear here as soon as the first search is read."}</p></${Empty}>`)}
      </div>
      ${selected && !onMap && search && info && html`<${Preview} key=${selected} search=${search} view=${view} campaign=${campaign} id=${selected} onClose=${() => choose(null)} />`}
    </div>
    ${picked.size > 0 && html`<${Bulk} campaign=${campaign} picked=${picked} pick=${pick} search=${search} view=${view} total=${answer?.total ?? 0} />`}`;
}
