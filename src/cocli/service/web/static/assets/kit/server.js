// What only a server does: who is here, events, changes. A bucket has none of it.
import { shared, useEffect, useState } from "./dom.js";
import { ask, etagOf, readAgain, storeAway } from "./data.js";

export const site = shared(null);
export const session = shared(null);
export const paused = shared(false);
export const commandEvents = shared(null);
export const heardAt = shared(null);

export const isLive = () => Boolean(site.read()?.live);
const RANK = { viewer: 1, editor: 2, admin: 3 };

export function roleIn(campaign) {
  const who = session.read();
  return isLive() && who ? who.campaigns?.[campaign] ?? who.role : null;
}

export const may = (role, campaign) => (RANK[roleIn(campaign)] ?? 0) >= RANK[role];

export async function send(method, path, body, headers = {}) {
  const options = { method, headers: { ...headers } };
  if (body !== undefined) {
    options.body = body instanceof Blob ? body : JSON.stringify(body);
    options.headers["Content-Type"] = body instanceof Blob ? "application/octet-stream" : "application/json";
  }
  const response = await ask(path.replace(/^\//, ""), options);
  const text = await response.text();
  return text ? JSON.parse(text) : {};
}

// The address of something of a campaign.
export const api = (campaign, ...parts) => ["api", campaign, ...parts].map((part, at) => (at ? encodeURIComponent(part) : part)).join("/");

export const fetchJson = async (path) => (await ask(path)).json();

// An answer of the server that is no file of the contract: a task's timeline, the runs, the log.
export function useAnswer(path, round = 0) {
  const [held, hold] = useState({ path: null, file: null, problem: null });
  useEffect(() => {
    if (!path) return undefined;
    let stays = true;
    fetchJson(path).then(
      (file) => stays && hold({ path, file, problem: null }),
      (problem) => stays && hold((last) => ({ path, file: last.path === path ? last.file : null, problem })),
    );
    return () => { stays = false; };
  }, [path, round]);
  const own = held.path === path;
  return { file: own ? held.file : null, problem: own ? held.problem : null, loading: !own };
}

// One stream per campaign tells which files changed; the screen that shows one reads it again.
export function useEvents(campaign, path) {
  const quiet = paused.use();
  useEffect(() => {
    if (!isLive() || !campaign || quiet) return undefined;
    const stream = new EventSource(`events?campaign=${encodeURIComponent(campaign)}`);
    const told = (event) => { heardAt.write(Date.now()); return JSON.parse(event.data); };
    stream.addEventListener("files", (event) => {
      const { etags, stale } = told(event);
      storeAway.write(stale ? { message: stale } : null);
      const next = etags[path]?.replace(/^W\/|"/g, "");
      if (next && etagOf(path) && next !== etagOf(path)) readAgain();
    });
    stream.addEventListener("command", (event) => commandEvents.write(told(event)));
    stream.addEventListener("problem", (event) => storeAway.write(told(event)));
    return () => stream.close();
  }, [campaign, path, quiet]);
}
