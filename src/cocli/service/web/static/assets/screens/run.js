// Run: a list or an area, phrases, a goal. Start it, watch it, get the file.
import { html, useEffect, useState } from "../kit/dom.js";
import { isLive, may, send, useAnswer } from "../kit/server.js";
import { Absent, Card, Command, Empty, Meter, Notice, Problem, Since, State, tell } from "../kit/parts.js";
import { Icon } from "../kit/icon.js";
import { address } from "../kit/route.js";
import { count, plain, plural, words } from "../kit/format.js";
import { act } from "../kit/act.js";

const MOST = 64 * 1024 * 1024;

function Upload({ upload, setUpload }) {
  const [busy, setBusy] = useState(false);
  const [over, setOver] = useState(false);
  const take = async (file) => {
    if (!file) return;
    if (file.size > MOST) { tell({ tone: "bad", title: "The file is too big", text: "At most 64 MB." }); return; }
    setBusy(true);
    try { setUpload({ ...(await send("POST", `api/uploads?name=${encodeURIComponent(file.name)}`, file)), name: file.name }); } catch (problem) { tell({ tone: "bad", title: "Not taken", text: `${problem.message} ${problem.hint ?? ""}` }); }
    setBusy(false);
  };
  const drop = (event) => { event.preventDefault(); setOver(false); take(event.dataTransfer.files[0]); };
  if (upload) return html`<div class="line"><${Icon} name="check" /><span class="grow"><b>${plain(upload.name)}</b> <span class="dim">${words(upload.kind)}, ${plural(upload.rows, upload.kind === "area" ? "polygon" : "row")}${Object.keys(upload.columns).length ? `: ${Object.keys(upload.columns).map(words).join(", ")}` : ""}${upload.refused.length ? `; not readable: ${plain(upload.refused[0])}` : ""}</span></span><button type="button" class="button small" onClick=${() => setUpload(null)}>Another</button></div>`;
  return html`<label class=${`drop ${over ? "over" : ""}`} onDragOver=${(event) => { event.preventDefault(); setOver(true); }} onDragLeave=${() => setOver(false)} onDrop=${drop}><${Icon} name="upload" size=${20} /><span>${busy ? "Reading …" : html`<b>Choose a file</b> or drop it here`}</span><small>CSV or XLSX with businesses, KML or GeoJSON with an area</small><input type="file" accept=".csv,.xlsx,.kml,.kmz,.geojson,.json" onChange=${(event) => take(event.target.files[0])} /></label>`;
}

// An area by its corners: typed, or drawn on the map.
function Area({ area, setArea }) {
  const [Draw, setDraw] = useState(null);
  const open = () => import("./map/draw.js").then((module) => setDraw(() => module.DrawArea));
  if (Draw) return html`<${Draw} area=${area} setArea=${setArea} />`;
  return html`<button type="button" class="button" onClick=${open}><${Icon} name="draw" />Draw an area on the map</button>`;
}

function Start({ started }) {
  const [upload, setUpload] = useState(null);
  const [area, setArea] = useState(null);
  const submit = async (event) => {
    event.preventDefault();
    const { campaign, queries, goal } = event.target.elements;
    const phrases = queries.value.split("\n").map((line) => line.trim()).filter(Boolean);
    const answer = await act(`Started ${campaign.value}`, "POST", "api/runs", { campaign: campaign.value.trim(), upload: upload?.upload ?? null, area, queries: phrases, goal: goal.value ? Number(goal.value) : null });
    if (answer) started(answer.run);
  };
  return html`<form class="stack" onSubmit=${submit}>
    <label class="field"><span>Name</span><input type="text" name="campaign" required pattern="[a-z0-9][a-z0-9_\\-]*" maxlength="60" placeholder="plumbers-springfield" /><small>Small letters, digits and hyphens. An existing name goes on with that campaign; a new area needs a new name.</small></label>
    <fieldset class="field"><legend>Where</legend><${Upload} upload=${upload} setUpload=${setUpload} /><${Area} area=${area} setArea=${setArea} />${area && html`<p class="dim">${plural(area.coordinates[0].length - 1, "corner")} drawn. <button type="button" class="link" onClick=${() => setArea(null)}>Remove</button></p>`}</fieldset>
    <label class="field"><span>Phrases, one a line</span><textarea name="queries" rows="3" placeholder=${"plumber\nemergency plumber"} /></label>
    <label class="field"><span>Goal: businesses</span><input type="number" name="goal" min="1" max="10000000" placeholder="500" /><small>An area is read until so many are found; a list is read whole. Empty: until all is read.</small></label>
    <div><button class="button main" disabled=${!may("admin")}><${Icon} name="run" />Start</button></div></form>`;
}

function Run({ run, again }) {
  const over = run.state !== "running";
  const found = run.result?.figures?.businesses ?? null;
  const stop = async () => { await act(`Stopped ${run.campaign}`, "POST", `api/runs/${encodeURIComponent(run.id)}/stop`, {}); again(); };
  return html`<li class="card"><div class="body stack tight"><div class="line"><h3><a href=${address({ campaign: run.campaign, view: "dashboard" })}>${plain(run.campaign)}</a></h3><${State} is=${run.state} /><span class="grow" /><span class="dim"><${Since} time=${run.at} prefix="started " /></span></div>
    ${run.goal && found !== null && html`<${Meter} share=${found / run.goal} tone=${found >= run.goal ? "ok" : "accent"} label=${`${count(found)} of ${count(run.goal)} businesses`} /><p class="dim">${count(found)} of ${count(run.goal)} businesses</p>`}
    ${run.log.length > 0 && html`<pre class="log" tabindex="0">${run.log.slice(-6).map(plain).join("\n")}</pre>`}
    ${run.command && html`<${Command} line=${run.command} />`}
    <div class="line">${run.file && html`<a class="button" href=${run.file.replace(/^\//, "")} download><${Icon} name="download" />Get the file</a>`}${!over && html`<button type="button" class="button bad" onClick=${stop}>Stop</button>`}</div></div></li>`;
}

function Runs({ round, again }) {
  const answer = useAnswer("api/runs", round);
  const runs = answer.file?.runs ?? [];
  const open = runs.some((run) => run.state === "running");
  useEffect(() => {
    if (!open) return undefined;
    const timer = setInterval(again, 2000);
    return () => clearInterval(timer);
  }, [open]);
  if (answer.problem && !answer.file) return html`<${Problem} problem=${answer.problem} what="the runs" />`;
  if (!runs.length) return html`<div class="card"><${Empty} icon="run" title="No run yet"><p>What you start is shown here until its file is there.</p></${Empty}></div>`;
  return html`<ul class="stack">${runs.map((run) => html`<${Run} key=${run.id} run=${run} again=${again} />`)}</ul>`;
}

export function Screen() {
  const [round, setRound] = useState(0);
  const again = () => setRound((value) => value + 1);
  if (!isLive()) return html`<header><h1>Run</h1></header><div class="card"><${Absent} what="Starting a run" /></div>`;
  return html`<header><h1>Run</h1><p>Start a campaign with a list or an area, watch it, get the file.</p></header>
    <div class="grid"><${Card} title="New run" class="half">${may("admin") ? html`<${Start} started=${again} />` : html`<${Notice} tone="wait" title="Only an admin starts a run" />`}</${Card}><div class="half">${may("admin") && html`<${Runs} round=${round} again=${again} />`}</div></div>`;
}
