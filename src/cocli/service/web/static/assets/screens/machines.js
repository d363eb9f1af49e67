// Machines: who is there, how each feels, what it does. Scale, pause, restart.
import { html, useState } from "../kit/dom.js";
import { useData } from "../kit/data.js";
import { may } from "../kit/server.js";
import { Dialog, Empty, Loaded, Meter, Notice, Since, State } from "../kit/parts.js";
import { Icon } from "../kit/icon.js";
import { LiveMark } from "./live_mark.js";
import { bytes, count, plain, seconds, tenth, words } from "../kit/format.js";
import { command } from "../kit/act.js";
import { address } from "../kit/route.js";

function Gauge({ label, value, unit = "%", share, warn = 0.85 }) {
  if (value === null || value === undefined) return null;
  return html`<div class="gauge"><span>${label}</span><b>${tenth(value)} ${unit}</b><${Meter} share=${share} tone=${share > warn ? "warn" : "ok"} label=${`${label} ${tenth(value)} ${unit}`} /></div>`;
}

function Workers({ host, campaign }) {
  const queues = [...new Set([...Object.keys(host.workers), ...Object.keys(host.wanted)])].sort();
  if (!queues.length) return html`<p class="dim">No workers.${may("admin", campaign) && html` <a href=${address({ campaign, view: "config" })}>Give it some.</a>`}</p>`;
  const scale = (queue, many) => command(`Scale ${queue} on ${host.host}`, campaign, `scale ${queue}=${many}`, host.host);
  return html`<div class="table" tabindex="0" role="region" aria-label=${`Workers of ${plain(host.host)}`}><table><thead><tr><th scope="col">Queue</th><th scope="col" class="num">Workers</th><th scope="col" class="num">Done</th><th scope="col" class="num">A minute</th><th scope="col" class="wide-only">Limited by</th></tr></thead><tbody>${queues.map((queue) => {
    const wanted = host.wanted[queue] ?? host.workers[queue] ?? 0;
    return html`<tr key=${queue}><td>${queue}</td><td class="num"><span class="line end">${may("admin", campaign) && html`<button type="button" class="button plain small icon" aria-label=${`One worker fewer for ${queue} on ${plain(host.host)}`} disabled=${wanted < 1} onClick=${() => scale(queue, wanted - 1)}><${Icon} name="minus" /></button>`}${count(host.workers[queue] ?? 0)}${host.wanted[queue] !== undefined && host.wanted[queue] !== host.workers[queue] ? ` → ${count(host.wanted[queue])}` : ""}${may("admin", campaign) && html`<button type="button" class="button plain small icon" aria-label=${`One worker more for ${queue} on ${plain(host.host)}`} onClick=${() => scale(queue, wanted + 1)}><${Icon} name="plus" /></button>`}</span></td><td class="num">${count(host.completed[queue])}</td><td class="num">${tenth(host.rates[queue])}</td><td class="wide-only">${words(host.limited_by[queue])}</td></tr>`;
  })}</tbody></table></div>`;
}

function Host({ host, campaign, elected }) {
  const [asking, setAsking] = useState(false);
  const restart = () => { setAsking(false); command(`Restart ${host.host}`, campaign, "restart", host.host); };
  const title = html`${plain(host.host)}`;
  return html`<section class="card" aria-label=${plain(host.host)}><header><h2>${title}</h2><${State} is=${host.state} />${elected === host.host && html`<span class="badge wait" title="It does the work that only one may do">elected</span>`}<span class="spacer" /><small>${host.beat_at ? html`heartbeat <${Since} time=${host.beat_at} />` : "never reported"}</small>${may("admin", campaign) && host.state === "alive" && html`<button type="button" class="button small" onClick=${() => setAsking(true)}><${Icon} name="refresh" />Restart</button>`}</header>
    <div class="body stack">${host.last_error && html`<${Notice} tone="warn" title="Last error"><p>${plain(host.last_error?.message ?? host.last_error)}</p></${Notice}>`}${host.evicted_reason && html`<${Notice} tone="bad" title="Sent away"><p>${plain(host.evicted_reason)}</p></${Notice}>`}
      ${host.beat_at && html`<div class="gauges"><${Gauge} label="Processor" value=${host.cpu_percent} share=${host.cpu_percent / 100} /><${Gauge} label="Memory" value=${host.ram_percent} share=${host.ram_percent / 100} /><${Gauge} label="Temperature" value=${host.temperature} unit="°C" share=${host.temperature / 90} warn=${0.88} /><div class="gauge"><span>Disk free</span><b>${bytes(host.disk_free_bytes)}</b></div><div class="gauge"><span>Version</span><b>${plain(host.version)}</b></div>${Math.abs(host.skew_seconds ?? 0) > 2 && html`<div class="gauge"><span>Clock</span><b class="warn">${seconds(Math.abs(host.skew_seconds))} ${host.skew_seconds > 0 ? "ahead" : "behind"}</b></div>`}</div>
      <${Workers} host=${host} campaign=${campaign} />`}
      ${host.active.length > 0 && html`<p class="dim">In work: ${host.active.slice(0, 5).map((task) => `${task.queue} ${plain(task.task_id)}`).join(", ")}${host.active.length > 5 ? ` and ${count(host.active.length - 5)} more` : ""}</p>`}</div>
    ${asking && html`<${Dialog} title=${`Restart the workers of ${plain(host.host)}?`} onClose=${() => setAsking(false)} footer=${html`<button type="button" class="button" onClick=${() => setAsking(false)}>Cancel</button><button type="button" class="button main" onClick=${restart}>Restart</button>`}><div class="body"><p>Its workers finish or give back what they hold, and new ones start in their place.</p></div></${Dialog}>`}</section>`;
}

export function Screen({ campaign, file }) {
  const data = useData(file);
  return html`<header><h1>Machines</h1>${data.file && html`<span class="dim">seen <${Since} time=${data.file.at} /></span>`}<span class="spacer" /><${LiveMark} /></header>
    <${Loaded} data=${data} what="the machines">${(read) => html`<div class="stack">${read.problems.map((problem) => html`<${Notice} tone="warn" title=${`${plain(problem.subject)}: ${words(problem.kind)}`}><p>${plain(problem.message)}</p></${Notice}>`)}${read.upkeep_problem && html`<${Notice} tone="warn" title="Upkeep"><p>${plain(read.upkeep_problem)}</p></${Notice}>`}
      ${read.hosts.length ? read.hosts.map((host) => html`<${Host} key=${host.host} host=${host} campaign=${campaign} elected=${read.elected} />`) : html`<div class="card"><${Empty} icon="machines" title="No machine has reported"><p>Start one with <code>cocli worker run</code>, or run the campaign here.</p></${Empty}></div>`}</div>`}</${Loaded}>`;
}
