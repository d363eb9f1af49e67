// The one door to Preact: `html` makes elements, and every text in it becomes a text node.
import { Component, Fragment, h, render } from "../vendor/preact.js";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact-hooks.js";
import htm from "../vendor/htm.js";

export const html = htm.bind(h);
export { Component, Fragment, h, render, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState };

// A value that several components watch.
export function shared(first) {
  let value = first;
  const watchers = new Set();
  const read = () => value;
  const write = (next) => {
    value = typeof next === "function" ? next(value) : next;
    for (const watcher of [...watchers]) watcher(value);
  };
  const use = () => {
    const [held, hold] = useState(value);
    useLayoutEffect(() => {
      hold(() => value);
      const watcher = (next) => hold(() => next);
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    }, []);
    return held;
  };
  return { read, write, use };
}
