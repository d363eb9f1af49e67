// Queues: what waits, what is in work, what was set aside; one task's story; recover all that match.
import { html, useState } from "../kit/dom.js";
import { useData } from "../kit/data.js";
import { api, isLive, may, useAnswer } from "../kit/server.js";
import { Bones, Card, Command, Dialog, Empty, Loaded, Notice, Parts, Problem, Since, State, Table, toneOf } from "../kit/parts.js";
import { Icon } from "../kit/icon.js";
import { LiveMark } from "./live_mark.js";
import { changed, go } from "../kit/route.js";
import { atMoment, count, plain, plural, seconds, tenth, words } from "../kit/format.js";
import { act, command } from "../kit/act.js";

const setAside = (queue) => Object.values(queue.sidelined).reduce((sum, many) => sum + many, 0);

function Queue({ queue, campaign, paused, chosen }) {
  const parts = [{ state: "completed", count: queue.completed ?? 0, word: "done" }, { state: "leased", count: queue.leased, word: "in work" }, { state: "unread", count: queue.waiting ?? queue.pending, word: "waiting" }, { state: "sidelined", count: setAside(queue), word: "set aside" }, { state: "expired", count: queue.expired ?? 0, word: "lease ran out" }];
  const stalls = (queue.waiting ?? 0) > 0 && queue.done_recently === 0;
  const isPaused = paused.includes(queue.queue);
  return html`<section class=${`card queue ${chosen ? "chosen" : ""}`} aria-label=${queue.queue}><header><h2><a href=${changed({ queue: queue.queue, category: null, task: null })} aria-current=${chosen ? "true" : undefined}>${queue.queue}</a></h2>${isPaused && html`<${State} is="paused" />`}${stalls && !isPaused && html`<${State} is="stalled" word="stalls" />`}<span class="spacer" />
      ${may("editor", campaign) && html`<button type="button" class="button small" onClick=${() => command(isPaused ? `Resume ${queue.queue}` : `Pause ${queue.queue}`, campaign, `${isPaused ? "resume" : "pause"} ${queue.queue}`)}><${Icon} name=${isPaused ? "run" : "pause"} />${isPaused ? "Resume" : "Pause"}</button>`}</header>
    <div class="body stack tight">${queue.problem ? html`<${Notice} tone="bad" title="No numbers"><p>${plain(queue.problem)}</p></${Notice}>` : html`<${Parts} parts=${parts} label=${`${count(queue.completed)} done, ${count(queue.waiting)} waiting`} />
      <p class="dim">${count(queue.done_recently)} done in the last ${seconds(queue.recent_seconds)}${queue.rate_per_minute ? ` · ${tenth(queue.rate_per_minute)} a minute` : ""}${queue.minutes_left ? ` · about ${seconds(queue.minutes_left * 60)} left` : ""}${queue.oldest ? html` · oldest <${Since} time=${queue.oldest} />` : ""}</p>`}</div></section>`;
}

function Sidelined({ queue, campaign, category }) {
  const categories = Object.entries(queue.sidelined).filter(([, many]) => many);
  if (!categories.length) return null;
  const many = category ? queue.sidelined[category] ?? 0 : setAside(queue);
  const recover = () => act(`Put ${plural(many, "task")} back`, "POST", api(campaign, "queues", queue.queue, "recover"), { category, task_ids: null });
  return html`<div class="line"><span class="dim">Set aside</span><a class=${`chip ${category ? "" : "on"}`} href=${changed({ category: null })}>all <b>${count(setAside(queue))}</b></a>${categories.map(([name, each]) => html`<a class=${`chip ${category === name ? "on" : ""}`} href=${changed({ category: name })}>${words(name)} <b>${count(each)}</b></a>`)}
    <span class="grow" />${may("admin", campaign) && html`<button type="button" class="button" onClick=${recover}><${Icon} name="undo" />Put back all ${count(many)} that match</button>`}</div>`;
}

function Tasks({ queue, campaign, category }) {
  const [picked, pick] = useState(() => new Set());
  const tasks = queue.tasks.filter((task) => !category || task.category === category);
  const admin = may("admin", campaign);
  const path = api(campaign, "queues", queue.queue);
  const toggle = (id) => { const next = new Set(picked); if (!next.delete(id)) next.add(id); pick(next); };
  const head = [...(admin ? [{ label: html`<span class="only-heard">Select</span>` }] : []), { label: "State" }, { label: "Task" }, { label: "Why", class: "wide-only" }, { label: "Worker", class: "wide-only" }, { label: "Changed", num: true }];
  const rows = tasks.map((task) => ({ key: task.task_id, cells: [
    ...(admin ? [html`<input type="checkbox" aria-label=${`Select ${plain(task.text)}`} checked=${picked.has(task.task_id)} onChange=${() => toggle(task.task_id)} />`] : []),
    html`<${State} is=${task.state} word=${task.category ? words(task.category) : task.state === "leased" ? "in work" : words(task.state)} />`,
    isLive() ? html`<a class="clip" href=${changed({ queue: queue.queue, task: task.task_id })}>${plain(task.text) || task.task_id}</a>` : html`<span class="clip">${plain(task.text) || task.task_id}</span>`, html`<span class="clip dim" title=${plain(task.detail)}>${plain(task.detail)}</span>`, html`<span class="clip">${plain(task.worker)}</span>`, html`<${Since} time=${task.changed} />`] }));
  return html`<div class="stack tight">${picked.size > 0 && html`<div class="line"><b>${plural(picked.size, "task")} selected</b><button type="button" class="button small" onClick=${() => act(`Set ${plural(picked.size, "task")} aside`, "POST", `${path}/sideline`, { task_ids: [...picked] })}>Set aside</button><button type="button" class="button small" onClick=${() => act(`Put ${plural(picked.size, "task")} back`, "POST", `${path}/recover`, { category: null, task_ids: [...picked] })}>Put back</button></div>`}
    <${Table} label=${`Tasks of ${queue.queue}`} head=${head} rows=${rows} empty="No task is set aside, in work or waiting" />
    ${queue.tasks_cut && html`<p class="dim pad">The first ${count(queue.tasks.length)}; there are more.</p>`}${queue.recover_command && setAside(queue) > 0 && html`<div class="pad"><${Command} line=${queue.recover_command} /></div>`}</div>`;
}

function Task({ campaign, queue, id }) {
  const answer = useAnswer(api(campaign, "queues", queue, "tasks", id));
  const close = () => go(changed({ task: null }), { replace: true, keepScroll: true });
  const { file } = answer;
  const events = file?.timeline ?? [];
  return html`<${Dialog} kind="drawer" title="Task" onClose=${close}><div class="body">${file ? html`<p class="strong mono">${plain(id)}</p><div class="line">${file.states.map((state) => html`<${State} is=${state} />`)}</div>${file.problem && html`<${Notice} tone="warn" title=${plain(file.problem)} />`}${file.payload && html`<dl class="facts narrow">${Object.entries(file.payload).filter(([, value]) => value !== null && typeof value !== "object").map(([name, value]) => html`<div><dt>${words(name)}</dt><dd>${plain(value)}</dd></div>`)}</dl>`}
      <ol class="timeline">${events.map((event) => html`<li class=${`tone-${toneOf(event.kind)}`}><span>${plain(event.text)}</span><small>${atMoment(event.at)}</small></li>`)}</ol>${!events.length && html`<p class="dim">Nothing is recorded of it yet.</p>`}` : answer.problem ? html`<${Problem} problem=${answer.problem} what="the task" />` : html`<${Bones} />`}</div></${Dialog}>`;
}

export function Screen({ campaign, file, route }) {
  const data = useData(file);
  const task = route.get("task");
  return html`<header><h1>Queues</h1>${data.file && html`<span class="dim">counted <${Since} time=${data.file.at} /></span>`}<span class="spacer" /><${LiveMark} /></header>
    <${Loaded} data=${data} what="the queues">${(read) => {
      const named = read.queues.find((queue) => queue.queue === route.get("queue"));
      const chosen = named ?? read.queues.find(setAside) ?? read.queues[0];
      if (!chosen) return html`<div class="card"><${Empty} icon="queues" title="No queue yet"><p>Queues appear when the campaign is planned.</p></${Empty}></div>`;
      return html`<div class="stack"><div class="queues">${read.queues.map((queue) => html`<${Queue} key=${queue.queue} queue=${queue} campaign=${campaign} paused=${read.paused} chosen=${queue === chosen} />`)}</div>
        <${Card} title=${`Tasks of ${chosen.queue}`} flush><div class="pad"><${Sidelined} queue=${chosen} campaign=${campaign} category=${route.get("category")} /></div><${Tasks} key=${chosen.queue} queue=${chosen} campaign=${campaign} category=${route.get("category")} /></${Card}></div>`;
    }}</${Loaded}>
    ${task && isLive() && html`<${Task} campaign=${campaign} queue=${route.get("queue")} id=${task} />`}`;
}
