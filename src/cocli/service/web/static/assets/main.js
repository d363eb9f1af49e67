// The shell: who is here, which campaign, which screen. A screen is loaded when it is first looked at.
import { Component, html, render, useEffect, useState } from "./kit/dom.js";
import { readData, storeAway } from "./kit/data.js";
import { fetchJson, isLive, send, session, site, useEvents } from "./kit/server.js";
import { Bones, Dialog, Menu, Notice, Toasts } from "./kit/parts.js";
import { Brand, Icon } from "./kit/icon.js";
import { Help, useKeys } from "./kit/keys.js";
import { Palette } from "./kit/palette.js";
import { VIEWS, viewOf } from "./kit/views.js";
import { address, changed, followLinks, openRightPage, useRoute } from "./kit/route.js";
import { undo } from "./kit/act.js";
import { clockAhead, onDay, plain, seconds } from "./kit/format.js";

const GROUPS = ["Campaign", "Work", "Settings"];
const shownViews = () => VIEWS.filter((each) => !each.live || isLive());

function Links({ campaign, current }) {
  const link = (each) => html`<a href=${address({ campaign, view: each.view })} aria-current=${each.view === current ? "page" : undefined}><${Icon} name=${each.icon} />${each.label}</a>`;
  return GROUPS.map((group) => html`<div><h2>${group}</h2>${shownViews().filter((each) => each.group === group).map(link)}</div>`);
}

function FootBar({ campaign, current }) {
  const [open, setOpen] = useState(false);
  const first = ["dashboard", "prospects", "coverage", "queues"].map((name) => VIEWS.find((each) => each.view === name));
  return html`<nav class="foot-bar" aria-label="Screens">
    ${first.map((each) => html`<a href=${address({ campaign, view: each.view })} aria-current=${each.view === current ? "page" : undefined}><${Icon} name=${each.icon} size=${20} />${each.label}</a>`)}
    <button type="button" aria-haspopup="dialog" onClick=${() => setOpen(true)}><${Icon} name="more" size=${20} />More</button>
    ${open && html`<${Dialog} kind="sheet" title="Screens" onClose=${() => setOpen(false)}><nav aria-label="All screens" onClick=${() => setOpen(false)}>${shownViews().map((each) => html`<a href=${address({ campaign, view: each.view })}><${Icon} name=${each.icon} />${each.label}</a>`)}<a href="?"><${Icon} name="campaigns" />All campaigns</a></nav></${Dialog}>`}
  </nav>`;
}

function ThemeButton() {
  const [theme, setTheme] = useState(document.documentElement.dataset.theme);
  const dark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const turn = () => {
    const next = dark ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try { localStorage.setItem("cocli.theme", next); } catch { /* a browser that keeps nothing still turns */ }
    setTheme(next);
  };
  return html`<button type="button" class="button plain icon" onClick=${turn} aria-label=${dark ? "Light colours" : "Dark colours"}><${Icon} name=${dark ? "sun" : "moon"} /></button>`;
}

function Who() {
  const who = session.use();
  if (!who) return null;
  const leave = async () => { await send("POST", "auth/logout", {}).catch(() => {}); location.reload(); };
  return html`<${Menu} label=${plain(who.name)} plain><p>${who.role} · by ${who.provider}</p><button type="button" onClick=${leave}>Log out</button></${Menu}>`;
}

function Top({ campaign, campaigns, openPalette }) {
  return html`<header class="top">
    <a class="brand" href="?" aria-label="cocli: all campaigns"><${Brand} /><span>cocli</span></a>
    ${campaign && html`<div class="where"><${Menu} label=${campaign} kind="start" plain><p>Campaigns</p>${campaigns.slice(0, 12).map((name) => html`<a href=${changed({ campaign: name, id: null, task: null, why: null })}>${name}${name === campaign && html`<${Icon} name="check" />`}</a>`)}<a href="?">All campaigns …</a></${Menu}></div>`}
    <span class="spacer" />
    <button type="button" class="finder" onClick=${openPalette}><${Icon} name="search" /><span>Go anywhere</span><kbd aria-hidden="true">${/Mac|iP(hone|ad)/.test(navigator.platform) ? "⌘ K" : "Ctrl K"}</kbd></button>
    <${ThemeButton} /><${Who} />
  </header>`;
}

function Away() {
  const away = storeAway.use();
  if (!away) return null;
  return html`<div class="screen"><${Notice} tone="warn" title="The store is away"><p>${plain(away.message)} ${plain(away.hint)} What you see was read before.</p></${Notice}></div>`;
}

const CLOCK_OFF = 120;
function WrongClock() {
  const off = clockAhead();
  if (Math.abs(off) < CLOCK_OFF) return null;
  return html`<p class="dim screen">The clock of this computer is ${seconds(Math.abs(off))} ${off > 0 ? "ahead" : "behind"}. Ages are counted by the clock of the server.</p>`;
}

// A screen that breaks says so; the shell around it stays.
class Guard extends Component {
  constructor() { super(); this.state = { problem: null }; }
  static getDerivedStateFromError(problem) { return { problem }; }
  render({ children }, { problem }) {
    if (!problem) return children;
    return html`<${Notice} tone="bad" title="This screen broke" live><p>${plain(problem.message)}</p><button type="button" class="button" onClick=${() => this.setState({ problem: null })}>Try again</button></${Notice}>`;
  }
}

const loaded = new Map();
function Screen({ view, campaign, route }) {
  const [Made, setMade] = useState(() => loaded.get(view.view));
  const [problem, setProblem] = useState(null);
  useEffect(() => {
    let stays = true;
    view.load().then((module) => { loaded.set(view.view, module.Screen); if (stays) setMade(() => module.Screen); }, (failure) => stays && setProblem(failure));
    return () => { stays = false; };
  }, [view.view]);
  const file = view.file(campaign, route);
  useEvents(campaign, file);
  useEffect(() => {
    document.title = [view.label, campaign, "cocli"].filter(Boolean).join(" · ");
    const alternate = document.querySelector("link[rel=alternate]") ?? document.head.appendChild(Object.assign(document.createElement("link"), { rel: "alternate", type: "application/json" }));
    alternate.href = file ? `data/${file}` : "data/site.json";
  }, [view.view, campaign, file]);
  if (problem) return html`<${Notice} tone="bad" title="This screen could not be loaded"><p>${plain(problem.message)} Load the page again.</p></${Notice}>`;
  return Made ? html`<${Made} campaign=${campaign} route=${route} file=${file} />` : html`<${Bones} />`;
}

function App() {
  const here = site.use();
  const route = useRoute();
  const [open, setOpen] = useState(null);
  const campaign = route.get("campaign");
  const view = viewOf(route, campaign);
  const openPalette = () => setOpen("palette");
  useKeys(campaign, { openPalette, openHelp: () => setOpen("help") });
  return html`<a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); document.getElementById("main").focus(); }}>Skip to the content</a>
    <div class=${campaign ? "shell" : "shell alone"}>
      <${Top} campaign=${campaign} campaigns=${here.campaigns} openPalette=${openPalette} />
      ${campaign && html`<nav class="side" aria-label="Screens"><${Links} campaign=${campaign} current=${view.view} /><div class="foot"><span>${here.mode === "static" ? "published copy" : "live"} · ${here.version}</span><br /><button type="button" class="link" onClick=${() => setOpen("help")}>Keys <kbd>?</kbd></button></div></nav>`}
      <main id="main" tabindex="-1">
        <${Away} /><${WrongClock} />${here.expires_at && html`<p class="dim screen">This copy expires on ${onDay(here.expires_at)}.</p>`}
        <div class=${`screen ${view.wide ? "wide" : ""}`} key=${view.view}><${Guard} key=${`${view.view} ${campaign}`}><${Screen} view=${view} campaign=${campaign} route=${route} /></${Guard}></div>
      </main>
      ${campaign && html`<${FootBar} campaign=${campaign} current=${view.view} />`}
    </div>
    ${open === "palette" && html`<${Palette} campaign=${campaign} site=${here} onClose=${() => setOpen(null)} />`}
    ${open === "help" && html`<${Help} onClose=${() => setOpen(null)} />`}
    <${Toasts} onUndo=${undo} />`;
}

async function start() {
  try { document.documentElement.dataset.theme = localStorage.getItem("cocli.theme") ?? ""; } catch { /* the system's colours */ }
  const root = document.getElementById("app");
  render(html`<div class="shell alone"><header class="top"><span class="brand"><${Brand} /><span>cocli</span></span></header><main id="main"><div class="screen"><${Bones} /></div></main></div>`, root);
  followLinks();
  const here = new URLSearchParams(location.search);
  viewOf(here, here.get("campaign")).load().catch(() => {}); // on its way while the server says who is here; told where it is shown
  try {
    site.write(await readData("site.json"));
    if (openRightPage(site.read().basemap)) return undefined;
    if (isLive()) session.write(await fetchJson("api/session"));
  } catch (problem) {
    if (problem.status === 401) return login(root, problem);
    render(html`<main class="door" id="main"><h1>cocli</h1><${Notice} tone="bad" title="The dashboard could not be read" live><p>${plain(problem.message)} ${plain(problem.hint)}</p></${Notice}><button type="button" class="button" onClick=${() => location.reload()}>Try again</button></main>`, root);
    return undefined;
  }
  render(html`<${App} />`, root);
  return undefined;
}

function login(root, problem) {
  const path = problem.whole?.login_path ?? null;
  const next = `${location.pathname}${location.search}`;
  render(html`<main class="door" id="main"><${Brand} /><h1>Log in</h1><p>${plain(problem.message)}</p>${path ? html`<a class="button main" href=${`${path}?next=${encodeURIComponent(next)}`}>Log in</a>` : html`<p class="dim">Open the link that <code>cocli web</code> printed: it works once.</p>`}</main>`, root);
}

start();
