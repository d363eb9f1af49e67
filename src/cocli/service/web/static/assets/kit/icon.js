// Small drawings of one line each, in the colour of the text beside them.
import { html } from "./dom.js";

const PATHS = {
  campaigns: "M3 3.5h4v4H3zM9 3.5h4v4H9zM3 9.5h4v3.5H3zM9 9.5h4v3.5H9z",
  dashboard: "M2.5 12.5 6 8l3 2.5 4.5-6M10.5 4.5h3v3",
  prospects: "M2.5 4h11M2.5 8h11M2.5 12h7",
  coverage: "M2.5 4.5 6 3l4 1.5L13.5 3v8.5L10 13l-4-1.5L2.5 13zM6 3v8.5M10 4.5V13",
  queues: "M3 3.5h10M3 6.5h10M3 9.5h6M12 9v4M10 11h4",
  machines: "M2.5 3.5h11v3.5h-11zM2.5 9h11v3.5h-11zM5 5.25h.01M5 10.75h.01",
  compare: "M5 3v10M11 3v10M2.5 5.5 5 3l2.5 2.5M8.5 10.5 11 13l2.5-2.5",
  config: "M2.5 4.5h6M12 4.5h1.5M2.5 11.5h1.5M7.5 11.5h6M10.25 2.75v3.5M5.75 9.75v3.5",
  run: "M5 3.5v9l7.5-4.5z",
  access: "M6 7.5a2.5 2.5 0 1 1 2.2 2.5H7v1.5H5.5V13H3v-2.2z",
  search: "M7 11.5a4.5 4.5 0 1 1 0-9 4.5 4.5 0 0 1 0 9zM10.3 10.3l3.2 3.2",
  refresh: "M13 8a5 5 0 1 1-1.5-3.6M13 2.5v2.8h-2.8",
  close: "M4 4l8 8M12 4l-8 8",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  copy: "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z",
  check: "M3 8.5l3.2 3.2L13 4.5",
  alert: "M8 2.5 14 13H2zM8 6.5v3M8 11.2h.01",
  info: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.5v3.5M8 5.2h.01",
  download: "M8 2.5v7.5M4.8 7 8 10.2 11.2 7M3 13h10",
  upload: "M8 10.5V3M4.8 6 8 2.8 11.2 6M3 13h10",
  down: "M4.5 6.5 8 10l3.5-3.5",
  up: "M4.5 9.5 8 6l3.5 3.5",
  left: "M9.5 4 5.5 8l4 4",
  right: "M6.5 4l4 4-4 4",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  undo: "M3 6.5h6.5a3.5 3.5 0 0 1 0 7H6M5.5 4 3 6.5 5.5 9",
  edit: "M3 13l.6-2.8L10.8 3 13 5.2l-7.2 7.2zM9.5 4.3l2.2 2.2",
  tag: "M2.5 2.5h5l6 6-5 5-6-6zM5.2 5.2h.01",
  ban: "M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM4.2 4.2l7.6 7.6",
  mail: "M2.5 4h11v8.5h-11zM2.5 4.5 8 9l5.5-4.5",
  phone: "M4 2.5h2L7 5.6 5.6 6.7a7 7 0 0 0 3.7 3.7L10.4 9l3.1 1v2.2c0 .7-.6 1.3-1.3 1.3A9.7 9.7 0 0 1 2.5 3.8c0-.7.6-1.3 1.5-1.3z",
  globe: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM2.2 8h11.6M8 2c2 1.8 2.8 3.8 2.8 6S10 12.2 8 14C6 12.2 5.2 10.2 5.2 8S6 3.8 8 2z",
  pin: "M8 14s4.5-4.2 4.5-7.500a4.5 4.5 0 0 0-9 0C3.5 9.8 8 14 8 14zM8 8a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  sun: "M8 10.800a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.600zM8 1.500v1.300M8 13.200v1.300M1.5 8h1.300M13.2 8h1.300M3.4 3.400l.9.9M11.7 11.700l.9.9M3.4 12.600l.9-.9M11.7 4.300l.9-.9",
  moon: "M13.2 9.600A5.6 5.6 0 0 1 6.4 2.800a5.6 5.6 0 1 0 6.8 6.800z",
  why: "M6 6.200a2 2 0 1 1 2.8 1.900c-.5.2-.8.6-.8 1.100v.4M8 11.800h.01M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12z",
  star: "M8 2.600l1.7 3.5 3.8.5-2.8 2.6.7 3.800L8 11.2 4.6 13l.7-3.800L2.5 6.600l3.8-.5z",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.800V8l2.2 1.5",
  split: "M3 8h4M7 8l4-4M7 8l4 4M8.500 3.500H11.500V6.500M8.500 12.500H11.500V9.500",
  draw: "M3.5 12.500v-6l5-3.5 4.5 4-2.5 5.500z",
};

export function Icon({ name, size = 16, label }) {
  const heard = label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" };
  return html`<svg width=${size} height=${size} viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" ...${heard}><path d=${PATHS[name]} /></svg>`;
}

export const Brand = () => html`<svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true"><rect width="20" height="20" rx="5" fill="currentColor" /><path d="M13.6 6.900A5 5 0 1 0 13.6 13.1" fill="none" stroke="var(--paper)" stroke-width="2.2" stroke-linecap="round" /><circle cx="12.4" cy="10" r="1.6" fill="var(--paper)" /></svg>`;
