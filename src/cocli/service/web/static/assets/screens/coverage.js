// Coverage: where was looked, what is missing, and which tiles to queue again.
import { html, useMemo, useState } from "../kit/dom.js";
import { useData } from "../kit/data.js";
import { AsOf, dayOf, pastPath, PastNotice } from "../kit/as_of.js";
import { api, isLive, may, useAnswer } from "../kit/server.js";
import { Card, Empty, Loaded, Parts, Since, State, tell } from "../kit/parts.js";
import { Icon } from "../kit/icon.js";
import { changed, go } from "../kit/route.js";
import { count, onDay, percent, plain, plural, tenth, words } from "../kit/format.js";
import { act } from "../kit/act.js";
import { boundsOf, shapesOf, STATES } from "./map/geo.js";
import { GeoMap } from "./map/geo_map.js";

const MOST_LISTED = 200;

function Totals({ totals }) {
  const parts = [["read", totals.read], ["stale", totals.stale], ["cut-short", totals.cut_short], ["blocked", totals.blocked], ["unread", totals.unread]].map(([state, many]) => ({ state, count: many }));
  const { recapture } = totals;
  return html`<${Card} title="In all"><div class="stack"><div class="figures slim"><div class="figure"><b>${percent(totals.read_share)}</b><span>read</span></div><div class="figure"><b>${count(totals.found)}</b><span>found</span></div><div class="figure"><b>${percent(totals.completeness)}</b><span>of what is there</span></div></div>
    <${Parts} parts=${parts} label="Searches by state" />
    ${recapture ? html`<p class="dim">Two passes over ${plural(recapture.pairs, "search", "searches")} saw ${count(recapture.seen)}. There are about ${count(recapture.total)} (${count(recapture.low)} to ${count(recapture.high)}), so about ${count(recapture.missing)} are missing.</p>` : html`<p class="dim">How many are missing is known after a second pass.</p>`}</div></${Card}>`;
}

function Tile({ tile, onClose }) {
  const own = tile.properties;
  return html`<${Card} title=${plain(own.name)} actions=${html`<button type="button" class="button plain small icon" aria-label="Close the tile" onClick=${onClose}><${Icon} name="close" /></button>`}><div class="stack tight"><${State} is=${own.state} />
    <dl class="facts narrow"><div><dt>found</dt><dd>${count(own.found)}</dd></div><div><dt>expected</dt><dd>${count(own.expected)}</dd></div><div><dt>missing</dt><dd>${own.missing === null ? "not known" : html`${tenth(own.missing)} <span class="dim">${count(own.low)} to ${count(own.high)} in all</span>`}</dd></div></dl>
    <ul class="stack tight">${Object.entries(own.phrases ?? {}).slice(0, 60).map(([phrase, state]) => html`<li class="line even"><span>${plain(phrase)}</span><${State} is=${state} /></li>`)}</ul></div></${Card}>`;
}

function TileTable({ tiles, picked, toggle, show }) {
  const shown = tiles.slice(0, MOST_LISTED);
  return html`<${Card} title="Tiles" small=${tiles.length > shown.length ? `${count(shown.length)} of ${count(tiles.length)}, most is missing first` : "most is missing first"} flush><div class="table tiles" role="region" aria-label="Tiles" tabindex="0"><table><thead><tr>${toggle && html`<th><span class="only-heard">Select</span></th>`}<th scope="col">Tile</th><th scope="col">State</th><th scope="col" class="num">Found</th><th scope="col" class="num">Missing</th></tr></thead><tbody>${shown.map((tile) => html`<tr key=${tile.id} data-row>${toggle && html`<td><input type="checkbox" aria-label=${`Select ${plain(tile.id)}`} checked=${picked.has(tile.id)} onChange=${() => toggle(tile.id)} /></td>`}<td><a href=${show(tile.id)}>${plain(tile.properties.name)}</a></td><td><${State} is=${tile.properties.state} /></td><td class="num">${count(tile.properties.found)}</td><td class="num">${tenth(tile.properties.missing)}</td></tr>`)}</tbody></table></div></${Card}>`;
}

function Page({ campaign, read, route }) {
  const [picked, pick] = useState(() => new Set());
  const [shapes, setShapes] = useState([]);
  const [over, setOver] = useState(false);
  const states = route.getAll("state");
  const phrase = route.get("phrase");
  const features = useMemo(() => read.features.map((feature) => (phrase ? { ...feature, properties: { ...feature.properties, state: feature.properties.phrases?.[phrase] ?? "unread" } } : feature)), [read, phrase]);
  const tiles = useMemo(() => features.filter((feature) => !states.length || states.includes(feature.properties.state)), [features, states.join()]);
  const sorted = useMemo(() => [...tiles].sort((left, right) => (right.properties.missing ?? -1) - (left.properties.missing ?? -1)), [tiles]);
  const allowed = isLive() && may("editor", campaign) && !dayOf(route);
  const toggle = (id) => { const next = new Set(picked); if (!next.delete(id)) next.add(id); pick(next); };
  const drop = async (event) => {
    event.preventDefault();
    setOver(false);
    try { const found = await shapesOf(event.dataTransfer?.files[0] ?? event.target.files[0]); setShapes(found); tell({ title: `${plural(found.length, "shape")} on the map`, text: "They are looked at here, and stored nowhere." }); } catch (problem) { tell({ tone: "bad", title: "Not shown", text: problem.message }); }
  };
  const queue = async () => { if (await act(`Queued ${plural(picked.size, "tile")}`, "POST", api(campaign, "tiles"), { tiles: [...picked], again: features.some((feature) => picked.has(feature.id) && feature.properties.state === "read") })) pick(new Set()); };
  const chosen = features.find((feature) => feature.id === route.get("tile"));
  const click = (id) => { go(changed({ tile: id }), { replace: true, keepScroll: true }); if (allowed) toggle(id); };
  const many = (state) => features.filter((feature) => feature.properties.state === state).length;
  const drags = { onDragOver: (event) => { event.preventDefault(); setOver(true); }, onDragLeave: () => setOver(false), onDrop: drop };
  return html`<div class="line chips"><a class=${`chip ${states.length ? "" : "on"}`} href=${changed({ state: null })}>all <b>${count(features.length)}</b></a>${STATES.filter((state) => many(state) || states.includes(state)).map((state) => html`<a class=${`chip ${states.includes(state) ? "on" : ""}`} aria-current=${states.includes(state) ? "true" : undefined} href=${changed({ state: states.includes(state) ? states.filter((each) => each !== state) : [...states, state] })}><${State} is=${state} /> <b>${count(many(state))}</b></a>`)}
      <span class="grow" />${read.phrases.length > 1 && html`<select class="slim" aria-label="Phrase" onChange=${(event) => go(changed({ phrase: event.target.value || null }))}><option value="">all phrases</option>${read.phrases.map((each) => html`<option value=${each} selected=${each === phrase}>${plain(each)}</option>`)}</select>`}
      <label class="button file">${shapes.length ? "Another KML" : "Look at a KML"}<input type="file" accept=".kml,.geojson,.json" onChange=${drop} aria-label="A KML or GeoJSON file to look at" /></label>${shapes.length > 0 && html`<button type="button" class="button plain" onClick=${() => setShapes([])}>Remove it</button>`}
      ${allowed && html`<button type="button" class="button main" disabled=${!picked.size} onClick=${queue}>Queue ${picked.size ? plural(picked.size, "tile") : "these tiles"}</button>`}</div>
    <div class="covering"><div class=${`card map-card ${over ? "over" : ""}`} ...${drags}><${GeoMap} campaign=${campaign} tiles=${tiles} shapes=${shapes} towns=${read.towns} box=${read.bbox ?? boundsOf(read.features)} selected=${picked} onTile=${click} label=${`Coverage of ${campaign}`} /></div>
      <div class="stack">${chosen && html`<${Tile} tile=${chosen} onClose=${() => go(changed({ tile: null }), { replace: true, keepScroll: true })} />`}<${Totals} totals=${read.totals} /><${TileTable} tiles=${sorted} picked=${picked} toggle=${allowed ? toggle : null} show=${(id) => changed({ tile: id })} /></div></div>`;
}

export function Screen({ campaign, file, route }) {
  const day = dayOf(route);
  const now = useData(day ? null : file);
  const past = useAnswer(pastPath(day, campaign, "coverage"));
  const data = day ? past : now;
  return html`<header><h1>Coverage</h1>${data.file && html`<span class="dim">${day ? html`as of ${onDay(day)}` : html`counted <${Since} time=${data.file.at} />`}${data.file.sources.length ? `, from ${data.file.sources.map(words).join(", ")}` : ""}</span>`}<span class="spacer" /><${AsOf} day=${day} /></header>
    ${day && html`<${PastNotice} day=${day}>What was planned and read by then. Phrases and sources are those of now.</${PastNotice}>`}
    <${Loaded} data=${data} what="the coverage">${(read) => (read.features.length ? html`<${Page} campaign=${campaign} read=${read} route=${route} />` : html`<div class="card"><${Empty} icon="coverage" title="Nothing is planned yet"><p>${day ? "On that day there was no plan." : "The map appears when the campaign has phrases and places."}</p></${Empty}></div>`)}</${Loaded}>`;
}
