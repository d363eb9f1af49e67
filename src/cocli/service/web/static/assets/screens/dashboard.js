// Dashboard: what is wrong first, then how far it is and what came of it. Every figure leads to its rows.
import { html, useEffect, useRef, useState } from "../kit/dom.js";
import { readAgain, readData, useData } from "../kit/data.js";
import { AsOf, dayOf, pastPath, PastNotice } from "../kit/as_of.js";
import { api, isLive, may, send, useAnswer } from "../kit/server.js";
import { Card, Command, Empty, Figure, Loaded, Notice, Parts, Since, tell } from "../kit/parts.js";
import { Icon } from "../kit/icon.js";
import { Bars, Trend } from "../kit/chart.js";
import { address, here } from "../kit/route.js";
import { bytes, count, onDay, percent, plain, words } from "../kit/format.js";
import { sendCommands } from "../kit/act.js";

// A field of the report → what the search calls it. A field that is not here is no filter.
const SEARCHED = { name: "name", phone: "phone", phone_e164: "phone", website: "website", domain: "domain", street: "street", city: "city", region: "region", postcode: "postcode", country: "country", primary_email: "email", all_emails: "email", lat: "position", lon: "position", rating: "rating", review_count: "reviews", categories: "categories", tags: "tags" };
const STEP_FILTERS = { "with a website": "website", "with an e-mail address": "email" };
// Where a figure leads: to the rows of its day.
const leads = (place) => address({ ...place, as_of: dayOf(here()) });
const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

function Stalls({ problems }) {
  const [said, say] = useState("");
  const text = problems.map((problem) => `${problem.subject}: ${problem.message}`).join(". ");
  useEffect(() => say(text), [text]);
  return html`<div role="status" aria-live="polite" class="only-heard">${said}</div>
    ${problems.length > 0 && html`<div class="stack tight stalls">${problems.slice(0, 6).map((problem) => html`<${Notice} tone=${problem.kind === "stalled" || problem.kind === "alarm" ? "bad" : "warn"} title=${html`${plain(problem.subject)} <span class="badge">${words(problem.kind)}</span>`} key=${problem.subject + problem.kind}><p>${plain(problem.message)}</p>${problem.hint && html`<${Command} line=${problem.hint} />`}</${Notice}>`)}</div>`}`;
}

// Asks the machines for a new report, and counts here where none listens. Done when a newer one is there.
function Refresh({ campaign, file, reported }) {
  const [busy, setBusy] = useState(null);
  const stays = useRef(true);
  useEffect(() => () => { stays.current = false; }, []);
  const newer = async (tries) => {
    for (let turn = 0; turn < tries && stays.current; turn += 1) {
      await wait(1000);
      const next = await readData(file, { force: true }).catch(() => null);
      if (next?.report && next.report.at !== reported) return true;
    }
    return false;
  };
  const refresh = async () => {
    setBusy("Asked for a new report …");
    try {
      const [result] = await sendCommands(campaign, [{ text: "refresh-report", host: null }]);
      const listened = result.state !== "refused" && result.sent.length > 0 && (await newer(12));
      if (!listened) {
        setBusy("Counting here …");
        const answer = await send("POST", api(campaign, "report"), {});
        tell({ title: "Counted a new report", command: answer.command });
      }
    } catch (problem) {
      tell({ tone: "bad", title: "No new report", text: `${problem.message} ${problem.hint ?? ""}` });
    }
    readAgain();
    if (stays.current) setBusy(null);
  };
  return html`<button type="button" class="button" disabled=${Boolean(busy)} onClick=${refresh}><${Icon} name="refresh" />${busy ?? "Refresh"}</button>`;
}

function Funnel({ campaign, steps }) {
  const rows = steps.map((step) => {
    const has = STEP_FILTERS[step.name];
    const prospects = step.name === "prospects" || has;
    return { word: step.name, count: step.count, share: step.share ?? 1, note: step.share === null ? "" : undefined, tone: step.unit === "prospects" ? "accent" : "none", href: prospects ? leads({ campaign, view: "prospects", has }) : null };
  });
  return html`<${Bars} rows=${rows} label="Funnel" />`;
}

function Coverage({ campaign, coverage, link }) {
  if (!coverage) return html`<${Empty} icon="coverage" title="Nothing is planned yet" />`;
  const parts = ["read", "stale", "cut_short", "blocked", "unread"].map((state) => ({ state, count: coverage[state] }));
  return html`<div class="stack">${link && html`<a class="map-still" href=${leads({ campaign, view: "coverage" })} aria-label="Coverage on the map"><img src=${link} alt="" loading="lazy" /></a>`}
    <${Parts} parts=${parts} label=${`${count(coverage.read)} of ${count(coverage.readings)} searches are read`} />
    <p class="dim">${percent(coverage.readings ? coverage.read / coverage.readings : null)} of ${count(coverage.readings)} searches read${coverage.completeness === null ? "" : `; ${percent(coverage.completeness)} of what is there was found`}.</p></div>`;
}

function Downloads({ downloads }) {
  if (!downloads.length) return html`<${Empty} icon="download" title="No file yet"><p>Export files appear here with their counts.</p></${Empty}>`;
  return html`<ul class="files">${downloads.map((file) => html`<li key=${file.name}><a href=${file.link} download=${file.name}><${Icon} name=${file.name.includes("contacts") ? "mail" : "download"} /><span><b>${plain(file.name)}</b><small>${plain(file.purpose)}</small></span><span class="num"><b>${file.rows === null ? "" : count(file.rows)}</b><small>${[file.bytes === null ? "" : bytes(file.bytes), file.at === null ? "" : onDay(file.at)].filter(Boolean).join(" · ")}</small></span></a></li>`)}</ul>`;
}

function Report({ campaign, read }) {
  const { report } = read;
  const { figures, emails } = report;
  const to = (has) => leads({ campaign, view: "prospects", has });
  const fields = report.fields.map((field) => ({ word: field.field, count: field.filled, share: field.share, href: SEARCHED[field.field] ? to(SEARCHED[field.field]) : null }));
  const trend = report.trend.filter((point) => point.told_by === "report").length > 1 ? report.trend.filter((point) => point.told_by === "report") : report.trend;
  const series = [{ name: "prospects", tone: "accent", of: (point) => point.prospects }, { name: "with e-mail", tone: "ok", dash: "dashed", of: (point) => point.with_email }];
  const relations = emails.by_relation.map((each) => ({ word: each.name, count: each.count, share: emails.addresses ? each.count / emails.addresses : 0 }));
  const kinds = report.categories.slice(0, 7).map((each) => ({ word: each.name, count: each.count, share: each.count / Math.max(1, report.prospects), href: leads({ campaign, view: "prospects", category: each.name }) }));
  return html`<div class="grid">
    <${Card} class="full"><div class="figures"><${Figure} value=${count(figures.businesses)} label="businesses" href=${to(null)} /><${Figure} value=${count(figures.emails)} label="e-mail addresses" href=${to("email")} /><${Figure} value=${percent(figures.businesses ? figures.with_email / figures.businesses : null)} label="can be written to" href=${to("email")} /><${Figure} value=${count(figures.with_website)} label="with a website" href=${to("website")} /><${Figure} value=${count(figures.websites.read)} label="websites read" /><${Figure} value=${count(figures.searches.read)} label=${`of ${count(figures.searches.planned)} searches read`} href=${leads({ campaign, view: "coverage" })} /></div></${Card}>
    <${Card} title="From the plan to an address" class="half"><${Funnel} campaign=${campaign} steps=${report.funnel} /></${Card}>
    <${Card} title="Over time" small=${`${report.trend.length} reports and versions`} class="half">${trend.length ? html`<${Trend} points=${trend} series=${series} label="Prospects, and prospects with e-mail, over time" />` : html`<${Empty} title="The trend begins with the second report" />`}</${Card}>
    <${Card} title="What is filled in" small="a click shows the rows" class="third"><${Bars} rows=${fields} label="Fill rates" /></${Card}>
    <div class="third stack"><${Card} title="Coverage" actions=${html`<a href=${leads({ campaign, view: "coverage" })}>Map</a>`}><${Coverage} campaign=${campaign} coverage=${report.coverage} link=${read.map_link} /></${Card}><${Card} title="E-mail addresses" small="by whose they are"><${Bars} rows=${relations} label="E-mail addresses by relation" /></${Card}></div>
    <div class="third stack">${!dayOf(here()) && html`<${Card} title="Downloads"><${Downloads} downloads=${read.downloads} /></${Card}>`}<${Card} title="Most frequent kinds"><${Bars} rows=${kinds} label="Categories" /></${Card}></div>
  </div>`;
}

export function Screen({ campaign, file, route }) {
  const day = dayOf(route);
  const now = useData(day ? null : file);
  const past = useAnswer(pastPath(day, campaign, "dashboard"));
  const data = day ? past : now;
  const report = data.file?.report;
  return html`<header><h1>Dashboard</h1>${report && html`<span class="dim">${day ? html`as of ${onDay(day)}` : html`last updated <${Since} time=${report.at} />`}</span>`}<span class="spacer" /><${AsOf} day=${day} />
      ${!day && data.file?.report_link && html`<a class="button plain" href=${data.file.report_link}>Report</a>`}
      ${!day && isLive() && may("editor", campaign) && data.file && html`<${Refresh} campaign=${campaign} file=${file} reported=${report?.at} />`}</header>
    <${Loaded} data=${data} what="the dashboard">${(read) => html`${day && html`<${PastNotice} day=${day}>Counted from what was packed then. What waited in the queues nobody knows any more; what is excluded is that of now.</${PastNotice}>`}<${Stalls} problems=${read.problems} />${read.report ? html`<${Report} campaign=${campaign} read=${read} />` : html`<div class="card"><${Empty} icon="dashboard" title="No report yet"><p>The figures appear with the first report.</p>${read.refresh_command && html`<${Command} line=${read.refresh_command} />`}</${Empty}></div>`}`}</${Loaded}>`;
}
