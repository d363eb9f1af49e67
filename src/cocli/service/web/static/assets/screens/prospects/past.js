// The prospects as they were at the end of a day, as a list or on the map.
import { html } from "../../kit/dom.js";
import { api, useAnswer } from "../../kit/server.js";
import { AsOf, PastNotice } from "../../kit/as_of.js";
import { Card, Loaded, Menu, Table } from "../../kit/parts.js";
import { count, onDay, plain, words } from "../../kit/format.js";
import { viewAddress } from "../../kit/search.js";

const MOST = 1000;
const HEAD = ["Name", "Town", "Kind", "Phone", "E-mail", "Website"].map((label, at) => ({ label, class: at > 2 ? "wide-only" : "" }));

const cells = (row) => [row.name, row.city, words(String(row.categories).split("\u001f")[0]), row.phone, row.email, row.domain].map((text) => html`<span class="clip">${plain(text)}</span>`);

function PastTable({ read }) {
  return html`<${Card} flush><${Table} label="Prospects of that day" head=${HEAD} rows=${read.rows.map((row) => ({ key: row.company_hash, cells: cells(row) }))} empty="There was none that matches" />${read.total > read.rows.length && html`<p class="dim pad">The first ${count(read.rows.length)} of ${count(read.total)}; the export has all.</p>`}</${Card}>`;
}

// `Map` is loaded by the screen when the map is asked for; without it the rows are a list.
export function PastRows({ campaign, day, view, onMap, Map, modes }) {
  const query = new URLSearchParams(viewAddress(view));
  query.set("as_of", day);
  const answer = useAnswer(`${api(campaign, "prospects")}?${query}&limit=${MOST}`);
  return html`<header><h1>Prospects</h1><span class="dim">${answer.file ? `${count(answer.file.total)} on ${onDay(day)}` : ""}</span><span class="spacer" /><${AsOf} day=${day} />${modes}<${Menu} label="Export" icon="download"><p>As of ${onDay(day)}</p>${["csv", "xlsx", "parquet"].map((format) => html`<a href=${`${api(campaign, "export")}?format=${format}&${query}`} download>${format.toUpperCase()}</a>`)}</${Menu}></header>
    <div class="stack"><${PastNotice} day=${day}>What was found is that of then. What people wrote is that of now.</${PastNotice}>
    <${Loaded} data=${answer} what="the past">${(read) => (onMap ? html`<div class="card rows-card">${Map && html`<${Map} campaign=${campaign} rows=${read.rows} total=${read.total} />`}</div>` : html`<${PastTable} read=${read} />`)}</${Loaded}></div>`;
}
