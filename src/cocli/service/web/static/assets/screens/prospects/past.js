// The prospects as they were at the end of a day. Only the server knows: a copy has one day.
import { html } from "../../kit/dom.js";
import { api, isLive, useAnswer } from "../../kit/server.js";
import { Card, Loaded, Menu, Notice, Table } from "../../kit/parts.js";
import { changed, go } from "../../kit/route.js";
import { count, onDay, plain, words } from "../../kit/format.js";
import { viewAddress } from "../../kit/search.js";

const MOST = 500;
const HEAD = ["Name", "Town", "Kind", "Phone", "E-mail", "Website"].map((label, at) => ({ label, class: at > 2 ? "wide-only" : "" }));

export function AsOf({ day = "" }) {
  if (!isLive()) return null;
  return html`<label class="line as-of"><span class="dim">As of</span><input type="date" value=${day} max=${new Date().toISOString().slice(0, 10)} onChange=${(event) => go(changed({ as_of: event.target.value || null, sel: null }))} /></label>`;
}

const cells = (row) => [row.name, row.city, words(String(row.categories).split("\u001f")[0]), row.phone, row.email, row.domain].map((text) => html`<span class="clip">${plain(text)}</span>`);

export function PastRows({ campaign, day, view }) {
  const query = new URLSearchParams(viewAddress(view));
  query.set("as_of", day);
  const answer = useAnswer(`${api(campaign, "prospects")}?${query}&limit=${MOST}`);
  return html`<header><h1>Prospects</h1><span class="dim">${answer.file ? `${count(answer.file.total)} on ${onDay(day)}` : ""}</span><span class="spacer" /><${AsOf} day=${day} /><${Menu} label="Export" icon="download"><p>As of ${onDay(day)}</p>${["csv", "xlsx", "parquet"].map((format) => html`<a href=${`${api(campaign, "export")}?format=${format}&${query}`} download>${format.toUpperCase()}</a>`)}</${Menu}><a class="button main" href=${changed({ as_of: null })}>Back to now</a></header>
    <div class="stack"><${Notice} title=${`As it was at the end of ${onDay(day)}`}><p>What was found is that of then. What people wrote is that of now.</p></${Notice}>
    <${Loaded} data=${answer} what="the past">${(read) => html`<${Card} flush><${Table} label="Prospects of that day" head=${HEAD} rows=${read.rows.map((row) => ({ key: row.company_hash, cells: cells(row) }))} empty="There was none that matches" />${read.total > read.rows.length && html`<p class="dim pad">The first ${count(read.rows.length)} of ${count(read.total)}; the export has all.</p>`}</${Card}>`}</${Loaded}></div>`;
}
