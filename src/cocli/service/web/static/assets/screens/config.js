// Config: what the campaign looks for. Changes go into a basket, then to the machines, and are followed until seen.
import { html, useEffect, useRef, useState } from "../kit/dom.js";
import { readAgain, useData } from "../kit/data.js";
import { commandEvents, fetchJson, isLive, may } from "../kit/server.js";
import { Card, Command, Loaded, Since, State, tell } from "../kit/parts.js";
import { Icon } from "../kit/icon.js";
import { atClock, count, plain, plural, seconds, tenth, words } from "../kit/format.js";
import { sendCommands } from "../kit/act.js";

const PREFIXES = { domains: "domain", names: "name", place_ids: "place" };
const OVER = new Set(["done", "already", "failed", "refused"]);
// As a shell reads it, so that a line can be pasted into a terminal.
const quote = (text) => (/^[\w.:/@+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`);

function Items({ items, remove, text = (item) => item }) {
  if (!items.length) return html`<p class="dim">None.</p>`;
  return html`<ul class="line">${items.map((item) => html`<li class="chip" key=${text(item)}><span class="clip">${plain(text(item))}</span>${remove && html`<button type="button" class="bare" aria-label=${`Remove ${plain(text(item))}`} onClick=${() => remove(item)}><${Icon} name="close" size=${12} /></button>`}</li>`)}</ul>`;
}

function Adder({ label, placeholder, add }) {
  const submit = (event) => { event.preventDefault(); const text = event.target.elements.text.value.trim(); event.target.reset(); if (text) add(text); };
  return html`<form class="line" onSubmit=${submit}><input type="text" name="text" class="grow" aria-label=${label} placeholder=${placeholder} maxlength="200" /><button class="button"><${Icon} name="plus" />Add</button></form>`;
}

// A town by its name, or a circle by its middle.
function Place({ add }) {
  const submit = (event) => {
    event.preventDefault();
    const { name, lat, lon, radius } = event.target.elements;
    const parts = [name.value.trim(), ...(lat.value && lon.value ? [Number(lat.value), Number(lon.value), ...(radius.value ? [Number(radius.value)] : [])] : [])];
    add(`add-location ${quote(parts.join(","))}`);
    event.target.reset();
  };
  return html`<form class="place-form" onSubmit=${submit}><label class="field"><span>Town</span><input name="name" type="text" required placeholder="Springfield, IL" /></label><label class="field"><span>Latitude</span><input name="lat" type="number" step="any" min="-90" max="90" /></label><label class="field"><span>Longitude</span><input name="lon" type="number" step="any" min="-180" max="180" /></label><label class="field"><span>Miles</span><input name="radius" type="number" step="any" min="0.1" max="1000" /></label><button class="button"><${Icon} name="plus" />Add</button></form>`;
}

function WorkersTable({ read, add }) {
  const hosts = Object.entries(read.workers);
  if (!hosts.length) return html`<p class="dim">No machine is configured, and none listens.</p>`;
  return html`<ul class="items">${hosts.flatMap(([host, queues]) => Object.entries(queues).map(([queue, many]) => html`<li><span>${plain(host)} · ${queue}</span><span class="line">${add && html`<button type="button" class="button plain small icon" aria-label=${`Fewer workers for ${queue} on ${plain(host)}`} disabled=${many < 1} onClick=${() => add(`scale ${queue}=${many - 1}`, host)}><${Icon} name="minus" /></button>`}<b>${count(many)}</b>${add && html`<button type="button" class="button plain small icon" aria-label=${`More workers for ${queue} on ${plain(host)}`} onClick=${() => add(`scale ${queue}=${many + 1}`, host)}><${Icon} name="plus" /></button>`}</span></li>`))}</ul>`;
}

function Basket({ basket, drop, apply, busy, listeners }) {
  return html`<${Card} title="Basket" small=${plural(basket.length, "change")} class="basket" id="basket"><div class="stack tight">
    ${basket.length === 0 && html`<p class="dim">Changes are collected here. Nothing happens before you apply them.</p>`}
    <ul class="stack tight">${basket.map((change, at) => html`<li class="line"><span class="grow"><code>${plain(change.text)}</code>${change.host && html` <span class="badge">${plain(change.host)}</span>`}</span><button type="button" class="button plain small icon" aria-label=${`Drop ${plain(change.text)}`} onClick=${() => drop(at)}><${Icon} name="close" /></button></li>`)}</ul>
    ${listeners.length === 0 && basket.length > 0 && html`<p class="dim">No machine listens now: the changes wait until one does.</p>`}
    <div><button type="button" class="button main" disabled=${!basket.length || busy} onClick=${apply}>Apply ${basket.length > 0 ? plural(basket.length, "change") : ""}</button></div></div></${Card}>`;
}

// One command on its way: sent, executed by a machine, seen here.
function Step({ on, word, time }) {
  return html`<span class=${`step ${on ? "on" : ""}`}><i aria-hidden="true">${on && html`<${Icon} name="check" size=${12} />`}</i>${word}${on && time !== undefined && html` <b>${time}</b>`}</span>`;
}

function Followed({ row, undo, allowed }) {
  const over = OVER.has(row.state);
  return html`<li class="followed"><div class="line"><code>${plain(row.text)}</code><span class="grow" /><${State} is=${row.state} /></div>
    <div class="steps"><${Step} on=${true} word="sent" time=${row.sent_at ? atClock(row.sent_at) : undefined} /><${Step} on=${over} word=${row.host ? `executed by ${plain(row.host)}` : "executed"} time=${over && row.seconds !== null && row.seconds !== undefined ? `${tenth(row.seconds)} s` : undefined} /><${Step} on=${over && Boolean(row.seen)} word="seen" time=${row.seen ? `${tenth(row.seen)} s` : undefined} /></div>
    ${row.message && html`<p class="dim">${plain(row.message)}</p>`}
    ${row.command && html`<${Command} line=${row.command} />`}${allowed && row.undo && row.state === "done" && html`<div><button type="button" class="button small" onClick=${() => undo(row)}><${Icon} name="undo" />Undo: <code>${plain(row.undo)}</code></button></div>`}</li>`;
}

// Follows what was sent until each command is over, by events where there are some, else by asking.
function useFollowed(campaign) {
  const [rows, setRows] = useState([]);
  const started = useRef(new Map());
  const event = commandEvents.use();
  const merge = (news) => setRows((all) => all.map((row) => {
    const next = news.find((each) => each.id === row.id);
    if (!next) return row;
    const seen = OVER.has(next.state) ? row.seen ?? (performance.now() - started.current.get(row.id)) / 1000 : null;
    return { ...row, ...next, command: next.command ?? row.command, seen };
  }));
  useEffect(() => { if (event) merge([event]); }, [event]);
  const open = rows.filter((row) => !OVER.has(row.state)).map((row) => row.id);
  useEffect(() => {
    if (!open.length) { if (rows.length) readAgain(); return undefined; }
    const timer = setInterval(() => fetchJson(`api/${encodeURIComponent(campaign)}/commands?ids=${open.map(encodeURIComponent).join(",")}`).then((answer) => merge(answer.commands), () => {}), 1000);
    return () => clearInterval(timer);
  }, [open.join(",")]);
  const follow = (results) => {
    const next = results.flatMap((result) => (result.sent ?? []).map((each) => ({ id: each.id, text: result.text, target: each.target, state: "waiting", sent_at: new Date().toISOString(), command: result.command, undo: result.undo })));
    for (const row of next) started.current.set(row.id, performance.now());
    setRows((all) => [...next, ...all]);
  };
  return [rows, follow];
}

function Page({ campaign, read }) {
  const [basket, setBasket] = useState([]);
  const [busy, setBusy] = useState(false);
  const [rows, follow] = useFollowed(campaign);
  const allowed = isLive() && may("editor", campaign);
  const put = allowed ? (text, host = null) => setBasket((all) => [...all, { text, host }]) : null;
  const run = async (commands) => {
    setBusy(true);
    try { follow(await sendCommands(campaign, commands)); setBasket([]); } catch (problem) { tell({ tone: "bad", title: "Not sent", text: `${problem.message} ${problem.hint ?? ""}` }); }
    setBusy(false);
  };
  const following = new Set(rows.map((row) => row.id));
  const earlier = read.commands.filter((row) => !following.has(row.id)).slice(0, 20);
  const undo = (row) => run([{ text: row.undo, host: row.target === "all" ? null : row.target }]);
  const places = (place) => `${place.name}${place.radius_miles ? `, ${tenth(place.radius_miles)} miles` : ""}`;
  return html`<div class="grid"><div class="most stack">
      <${Card} title="Phrases" small="what is searched for"><div class="stack tight"><${Items} items=${read.queries} remove=${put && ((query) => put(`remove-query ${quote(query)}`))} />${put && html`<${Adder} label="New phrase" placeholder="emergency plumber" add=${(text) => put(`add-query ${quote(text)}`)} />`}</div></${Card}>
      <${Card} title="Places" small=${read.locations_from && read.locations_from !== "locations" ? `from ${plain(read.locations_from)}` : "where it is searched"}><div class="stack tight">${read.locations_from === "area" && html`<p class="dim">It is searched in the area that the configuration names; places come on top.</p>`}<${Items} items=${read.locations} text=${places} remove=${put && ((place) => put(`remove-location ${quote(place.name)}`))} />${put && html`<${Place} add=${put} />`}</div></${Card}>
      <${Card} title="Exclusions" small="never counted, never written to"><div class="stack">${Object.entries(read.exclude).map(([kind, list]) => html`<div class="stack tight"><h3>${words(kind)}</h3><${Items} items=${list} remove=${put && ((value) => put(`remove-exclude ${quote(`${PREFIXES[kind]}:${value}`)}`))} /></div>`)}${put && html`<${Adder} label="New exclusion" placeholder="chain.example" add=${(text) => put(`add-exclude ${quote(text)}`)} />`}</div></${Card}>
      <${Card} title="Workers" small=${read.listeners.length ? `${plural(read.listeners.length, "machine")} listening` : "no machine listens"}><${WorkersTable} read=${read} add=${may("admin", campaign) ? put : null} /></${Card}>
    </div><div class="third stack">
      ${put && html`<${Basket} basket=${basket} drop=${(at) => setBasket((all) => all.filter((_, index) => index !== at))} apply=${() => run(basket)} busy=${busy} listeners=${read.listeners} />`}
      ${rows.length > 0 && html`<${Card} title="On its way"><div role="status"><ul class="stack">${rows.map((row) => html`<${Followed} key=${row.id} row=${row} undo=${undo} allowed=${allowed} />`)}</ul></div></${Card}>`}
      <${Card} title="Earlier changes">${earlier.length ? html`<ul class="stack">${earlier.map((row) => html`<li class="stack tight"><div class="line"><code>${plain(row.text)}</code><span class="grow" /><${State} is=${row.state} /></div><p class="dim">${plain(row.sent_by)} <${Since} time=${row.sent_at} />${row.host ? `, by ${plain(row.host)}` : ""}${row.seconds !== null && row.seconds !== undefined ? ` in ${seconds(row.seconds)}` : ""}${row.message ? ` · ${plain(row.message)}` : ""}</p>${row.command && html`<${Command} line=${row.command} />`}${allowed && row.undo && row.state === "done" && html`<div><button type="button" class="button small" onClick=${() => undo(row)}><${Icon} name="undo" />Undo</button></div>`}</li>`)}</ul>` : html`<p class="dim">None yet.</p>`}</${Card}>
      <${Card} title="The file"><dl class="facts narrow"><div><dt>file</dt><dd class="mono">${plain(read.file)}</dd></div><div><dt>sources</dt><dd>${read.sources.map(plain).join(", ")}</dd></div><div><dt>goal</dt><dd>${count(read.goal)}</dd></div><div><dt>time zone</dt><dd>${plain(read.timezone)}</dd></div></dl></${Card}>
    </div></div>`;
}

export function Screen({ campaign, file }) {
  const data = useData(file);
  return html`<header><h1>Config</h1>${!isLive() && html`<span class="badge">published copy: read only</span>`}</header><${Loaded} data=${data} what="the settings">${(read) => html`<${Page} campaign=${campaign} read=${read} />`}</${Loaded}>`;
}
