// The parts that screens are made of. None knows a screen.
import { html, shared, useEffect, useLayoutEffect, useRef, useState } from "./dom.js";
import { Icon } from "./icon.js";
import { plain, since, words } from "./format.js";

// State: what a thing is in → its colour and pattern (the tone). The word stands beside it.
const TONES = {
  read: "ok", done: "ok", alive: "ok", completed: "ok", same: "ok", already: "ok", met: "ok", exhausted: "ok", ended: "ok", own: "ok",
  waiting: "wait", running: "wait", leased: "wait", sent: "wait", new: "wait", gained: "wait", pending: "wait", queued: "wait", started: "wait", claimed: "wait",
  stale: "warn", overdue: "warn", expired: "warn", mixed: "warn", changed: "warn", stalled: "warn", late: "warn", paused: "warn", stopping: "warn",
  blocked: "bad", failed: "bad", sidelined: "bad", evicted: "bad", lost: "bad", gone: "bad", refused: "bad",
  "cut-short": "cut", cut_short: "cut",
  unread: "none", expected: "none", stopped: "none", unknown: "none",
};
export const toneOf = (state) => TONES[state] ?? "none";

export const State = ({ is, word }) => html`<span class="state"><i class=${`swatch tone-${toneOf(is)}`} aria-hidden="true" />${word ?? words(is)}</span>`;

export function Card({ title, small, actions, children, foot, class: kind = "", level = 2, flush = false, id }) {
  const Heading = `h${level}`;
  return html`<section class=${`card ${kind}`} id=${id}>
    ${title && html`<header><${Heading}>${title}</${Heading}>${small && html`<small>${small}</small>`}<span class="spacer" />${actions}</header>`}
    ${flush ? children : html`<div class="body">${children}</div>`}
    ${foot && html`<footer>${foot}</footer>`}
  </section>`;
}

export function Notice({ tone = "wait", title, children, actions, live = false }) {
  const icon = { ok: "check", bad: "alert", warn: "alert" }[tone] ?? "info";
  return html`<div class=${`notice tone-${tone}`} role=${live ? "alert" : undefined}><${Icon} name=${icon} /><div><strong>${title}</strong>${children}</div>${actions}</div>`;
}

export const Empty = ({ title, children, icon }) => html`<div class="empty">${icon && html`<${Icon} name=${icon} size=${28} />`}<strong>${title}</strong>${children}</div>`;

export const Bones = ({ lines = 6 }) => html`<div class="bones" role="status" aria-label="Loading">${Array.from({ length: lines }, (_, at) => html`<i class=${`w${at % 4}`} />`)}</div>`;

export function Problem({ problem, what = "this" }) {
  if (problem.status === 404) return html`<${Empty} icon="info" title="Nothing here yet"><p>${plain(problem.message)}</p>${problem.hint && html`<p>${plain(problem.hint)}</p>`}</${Empty}>`;
  return html`<${Notice} tone="bad" title=${`Could not read ${what}`}><p>${plain(problem.message)} ${plain(problem.hint)}</p></${Notice}>`;
}

// The file, or what stands in its place until it is there. An old file stays, and is marked.
export function Loaded({ data, what, children }) {
  if (data.file) return html`${data.problem && html`<${Notice} tone="warn" title="Not up to date"><p>${plain(data.problem.message)} What you see was read earlier.</p></${Notice}>`}${children(data.file)}`;
  return data.problem ? html`<${Problem} problem=${data.problem} what=${what} />` : html`<div class="card"><div class="body"><${Bones} /></div></div>`;
}

export function Since({ time, prefix = "" }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((value) => value + 1), 20000);
    return () => clearInterval(timer);
  }, []);
  return html`<time datetime=${time} title=${time}>${prefix}${since(time)}</time>`;
}

export function CopyButton({ text, label = "Copy" }) {
  const [done, say] = useState(false);
  const copy = async () => {
    await navigator.clipboard?.writeText(text).catch(() => {});
    say(true);
    setTimeout(() => say(false), 1500);
  };
  return html`<button type="button" class="button plain small icon" onClick=${copy} aria-label=${done ? "Copied" : label} title=${label}><${Icon} name=${done ? "check" : "copy"} /></button>`;
}

export const Command = ({ line }) => html`<div class="command"><code tabindex="0">${plain(line)}</code><${CopyButton} text=${line} label="Copy the command line" /></div>`;

// A dialog of the browser: it keeps the focus inside, and Escape closes it.
export function Dialog({ title, onClose, children, footer, kind = "", label }) {
  const ref = useRef();
  useLayoutEffect(() => {
    const dialog = ref.current;
    const before = document.activeElement;
    if (!dialog.open) dialog.showModal();
    return () => { dialog.close(); before?.focus?.({ preventScroll: true }); };
  }, []);
  return html`<dialog ref=${ref} class=${kind} aria-label=${label ?? title} onCancel=${(event) => { event.preventDefault(); onClose(); }} onClick=${(event) => event.target === ref.current && onClose()}>
    ${title && html`<header><h2>${title}</h2><button type="button" class="button plain icon" aria-label="Close" onClick=${onClose}><${Icon} name="close" /></button></header>`}
    ${children}
    ${footer && html`<footer>${footer}</footer>`}
  </dialog>`;
}

export function Menu({ label, icon, children, kind = "", plain: bare = false }) {
  const ref = useRef();
  useEffect(() => {
    const shut = (event) => {
      const menu = ref.current;
      if (!menu?.open) return;
      if (event.type === "keydown" ? event.key === "Escape" : !menu.contains(event.target) || event.target.closest(".menu > div > :is(a, button)")) {
        menu.open = false;
        if (event.type === "keydown") menu.querySelector("summary").focus();
      }
    };
    document.addEventListener("click", shut);
    document.addEventListener("keydown", shut);
    return () => { document.removeEventListener("click", shut); document.removeEventListener("keydown", shut); };
  }, []);
  return html`<details class=${`menu ${kind}`} ref=${ref}><summary class=${`button ${bare ? "plain" : ""}`}>${icon && html`<${Icon} name=${icon} />`}<span>${label}</span><${Icon} name="down" size=${12} /></summary><div>${children}</div></details>`;
}

// Rows that the arrows and j k walk through; one of them is in the order of the tab key.
export function useRoving() {
  const ref = useRef();
  const onKeyDown = (event) => {
    const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };
    if (event.target.matches("input, textarea, select")) return;
    const rows = [...ref.current.querySelectorAll("[data-row]")];
    const at = rows.indexOf(event.target.closest("[data-row]"));
    let next = null;
    if (event.key in steps) next = rows[Math.min(rows.length - 1, Math.max(0, at + steps[event.key]))];
    if (event.key === "Home") next = rows[0];
    if (event.key === "End") next = rows[rows.length - 1];
    if (event.key === "Enter" && event.target.matches("[data-row]")) event.target.querySelector("a, button")?.click();
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    for (const row of rows) row.tabIndex = row === next ? 0 : -1;
    next.focus();
  };
  return { ref, onKeyDown };
}

export function Table({ label, head, rows, empty = "Nothing here." }) {
  const roving = useRoving();
  if (!rows.length) return html`<${Empty} title=${empty} />`;
  return html`<div class="table" role="region" aria-label=${label} tabindex="0"><table ref=${roving.ref} onKeyDown=${roving.onKeyDown}>
    <thead><tr>${head.map((cell) => html`<th scope="col" class=${cell.num ? "num" : cell.class}>${cell.label ?? cell}</th>`)}</tr></thead>
    <tbody>${rows.map((row, at) => html`<tr key=${row.key ?? at} data-row tabindex=${at ? -1 : 0}>${row.cells.map((cell, column) => html`<td class=${head[column].num ? "num" : head[column].class}>${cell}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

export const Figure = ({ value, label, href }) => html`<div class="figure"><b>${href ? html`<a href=${href}>${value}</a>` : value}</b><span>${label}</span></div>`;

export const Meter = ({ share, tone = "accent", label }) => html`<span class="meter" role="img" aria-label=${label}><i class=${`tone-${tone}`} style=${{ width: `${Math.max(0, Math.min(1, share ?? 0)) * 100}%` }} /></span>`;

// Parts of one whole, side by side, with their words below.
export function Parts({ parts, label }) {
  const all = parts.reduce((sum, part) => sum + part.count, 0) || 1;
  const shown = parts.filter((part) => part.count > 0);
  return html`<div class="stack tight"><div class="parts" role="img" aria-label=${label}>${shown.map((part) => html`<i class=${`tone-${toneOf(part.state)}`} style=${{ flexGrow: part.count / all }} />`)}</div>
    <div class="legend">${shown.map((part) => html`<span class="state"><i class=${`swatch tone-${toneOf(part.state)}`} aria-hidden="true" />${part.word ?? words(part.state)} <b>${part.count.toLocaleString("en-US")}</b></span>`)}</div></div>`;
}

export const Absent = ({ what }) => html`<${Empty} icon="info" title=${`${what} needs the server`}><p>This is a published copy: it shows what was there when it was made, and changes nothing. Run <code>cocli web</code> to do this.</p></${Empty}>`;

// What just happened, with its command line and its undo.
const toasts = shared([]);
let numbers = 0;
export function tell(toast) {
  const id = (numbers += 1);
  toasts.write((all) => [...all.slice(-2), { id, ...toast }]);
  setTimeout(() => toasts.write((all) => all.filter((each) => each.id !== id)), toast.undo ? 20000 : 8000);
}

export function Toasts({ onUndo }) {
  const all = toasts.use();
  const away = (id) => toasts.write((list) => list.filter((each) => each.id !== id));
  return html`<div class="toasts" role="status" aria-label="What was done">${all.map((toast) => html`<div class=${`toast tone-${toast.tone ?? "ok"}`} key=${toast.id}>
    <div class="line even"><strong>${plain(toast.title)}</strong><span class="line">${toast.undo && html`<button type="button" class="button small" onClick=${() => { away(toast.id); onUndo(toast); }}><${Icon} name="undo" />Undo</button>`}<button type="button" class="button plain small icon" aria-label="Dismiss" onClick=${() => away(toast.id)}><${Icon} name="close" /></button></span></div>
    ${toast.text && html`<p class="dim">${plain(toast.text)}</p>`}${toast.command && html`<${Command} line=${toast.command} />`}
  </div>`)}</div>`;
}
