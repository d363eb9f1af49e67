// Reading `data/…`: one request per screen, kept by its etag, marked where it is old.
import { shared, useEffect, useState } from "./dom.js";
import { noteServerTime } from "./format.js";

const kept = new Map();
const beat = shared(0);
export const storeAway = shared(null);

export class Failure extends Error {
  constructor(status, { code = "unknown", message = "The server gave no reason.", hint = null } = {}, whole = null) {
    super(message);
    this.status = status;
    this.code = code;
    this.hint = hint;
    this.whole = whole;
  }
}

const AWAY = { code: "unreachable", message: "The server does not answer.", hint: "Is it running? What is shown is the last that was read." };

export async function ask(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...options });
  } catch {
    throw new Failure(0, AWAY);
  }
  noteServerTime(response.headers.get("date"));
  if (response.ok) return response;
  const body = await response.json().catch(() => null);
  throw new Failure(response.status, body?.error ?? { message: `The server answered ${response.status}.` }, body);
}

function known(file, path) {
  const parts = /^cocli\.web-[a-z-]+\/(\d+)$/.exec(file.schema ?? "");
  if (parts && parts[1] === "1") return file;
  throw new Failure(0, { code: "schema", message: `${path} has the shape “${file.schema}”, which this page does not know.`, hint: "Load the page again, or publish the site anew." });
}

export async function readData(path, { force = false } = {}) {
  const url = `data/${path}`;
  const before = kept.get(path);
  const response = await ask(url, { cache: force ? "no-cache" : "default" });
  const etag = response.headers.get("etag");
  if (before && etag && before.etag === etag) return before.file;
  const file = known(await response.json(), url);
  kept.set(path, { etag, file });
  if (kept.size > 40) kept.delete(kept.keys().next().value);
  return file;
}

export const etagOf = (path) => kept.get(path)?.etag?.replace(/^W\/|"/g, "") ?? null;
export const readAgain = () => beat.write((value) => value + 1);

// `{file, problem, loading}`: the last that was read stays while the next is on its way.
export function useData(path, { optional = false } = {}) {
  const round = beat.use();
  const [held, hold] = useState({ path: null, file: null, problem: null });
  useEffect(() => {
    if (!path) return undefined;
    let stays = true;
    readData(path, { force: round > 0 }).then(
      (file) => stays && hold({ path, file, problem: null }),
      (problem) => stays && hold({ path, file: kept.get(path)?.file ?? null, problem }),
    );
    return () => { stays = false; };
  }, [path, round]);
  const own = held.path === path;
  const absent = own && optional && held.problem?.status === 404;
  return { file: own ? held.file : null, problem: own && !absent ? held.problem : null, absent, loading: !own };
}
