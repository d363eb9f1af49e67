// The Worker that searches the prospects. Asked by messages, so that typing is never held up.
import { scriptUrl } from "./trusted.js";

export class Search {
  constructor(campaign, onProgress) {
    this.waiting = new Map();
    this.number = 0;
    this.worker = new Worker(scriptUrl("search-worker.js"), { type: "module" });
    this.worker.onmessage = ({ data }) => (data.event ? onProgress(data) : this.answer(data));
    this.worker.onerror = () => { for (const { reject } of this.waiting.values()) reject(new Error("The search broke.")); this.waiting.clear(); };
    this.opened = this.ask("open", { base: new URL(`data/${encodeURIComponent(campaign)}/prospects/`, document.baseURI).href });
  }

  ask(what, rest = {}) {
    const id = (this.number += 1);
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, ask: what, ...rest });
    });
  }

  answer(data) {
    const question = this.waiting.get(data.id);
    this.waiting.delete(data.id);
    if (!question) return;
    if (data.ok) question.resolve(data);
    else question.reject(Object.assign(new Error(data.error), { status: data.status ?? 0 }));
  }

  close() { this.worker.terminate(); }
}

export const LISTS = ["city", "region", "country", "category", "tag", "status", "source", "has", "lacks"];

// The part of the address that says which rows, and in which order.
export function viewOf(route) {
  const view = { q: route.get("q") ?? "", sort: route.get("sort") ?? "best", desc: route.get("desc") === "1" };
  for (const name of LISTS) view[name] = route.getAll(name);
  if (route.get("min_rating")) view.min_rating = Number(route.get("min_rating"));
  return view;
}

export function viewAddress(view) {
  const parts = new URLSearchParams();
  if (view.q) parts.set("q", view.q);
  for (const name of LISTS) for (const value of view[name]) parts.append(name, value);
  if (view.min_rating) parts.set("min_rating", view.min_rating);
  if (view.sort !== "best") parts.set("sort", view.sort);
  if (view.desc) parts.set("desc", "1");
  return parts.toString();
}
