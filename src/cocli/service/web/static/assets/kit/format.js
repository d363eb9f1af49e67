// Numbers, times and scraped texts, as people read them.
const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });
const ago = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "long" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const moment = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const STEPS = [["second", 60], ["minute", 60], ["hour", 24], ["day", 30], ["month", 12], ["year", Infinity]];

export const DASH = "–";
export const count = (value) => (value === null || value === undefined ? DASH : whole.format(value));
export const tenth = (value) => (value === null || value === undefined ? DASH : tenths.format(value));
export const plural = (value, noun, many = `${noun}s`) => `${count(value)} ${value === 1 ? noun : many}`;

export function percent(share) {
  if (share === null || share === undefined) return DASH;
  const value = share * 100;
  if (value > 99 && value < 100) return `${Math.floor(value * 10) / 10} %`;
  if (value > 0 && value < 1) return `${tenths.format(Math.max(value, 0.1))} %`;
  return `${Math.round(value)} %`;
}

export function bytes(value) {
  if (value === null || value === undefined) return DASH;
  const units = ["B", "kB", "MB", "GB", "TB"];
  let size = value;
  let step = 0;
  while (size >= 1000 && step < units.length - 1) { size /= 1000; step += 1; }
  return `${size < 10 && step ? tenths.format(size) : whole.format(size)} ${units[step]}`;
}

export function seconds(value) {
  if (value === null || value === undefined) return DASH;
  if (value < 1) return "under 1 s";
  if (value < 90) return `${whole.format(value)} s`;
  if (value < 5400) return `${whole.format(value / 60)} min`;
  if (value < 172800) return `${tenths.format(value / 3600)} h`;
  return `${whole.format(value / 86400)} days`;
}

// A computer's clock may be wrong. The server says what time it is with every answer; ages are counted by that.
let ahead = 0;
const NOTED = 2000;
export function noteServerTime(text) {
  const told = Date.parse(text ?? "");
  if (Number.isNaN(told)) return;
  const off = Date.now() - told;
  ahead = Math.abs(off) < NOTED ? 0 : off;
}
export const clockAhead = () => ahead / 1000;
export const serverNow = () => Date.now() - ahead;

export function since(time, now = serverNow()) {
  if (!time) return DASH;
  let value = (new Date(time).getTime() - now) / 1000;
  if (Number.isNaN(value)) return String(time);
  if (Math.abs(value) < 5) return "just now";
  for (const [unit, size] of STEPS) {
    if (Math.abs(value) < size) return ago.format(Math.round(value), unit);
    value /= size;
  }
  return DASH;
}

const date = (time, form) => {
  const value = new Date(time);
  return time && !Number.isNaN(value.getTime()) ? form.format(value) : time || DASH;
};
export const onDay = (time) => date(time, day);
export const atMoment = (time) => date(time, moment);
export const atClock = (time) => date(time, clock);

// Letters that turn the direction of what follows, or that nobody sees, are taken out of a scraped text.
// eslint-disable-next-line no-control-regex
const UNSEEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
export const plain = (text) => (text === null || text === undefined ? "" : String(text).replace(UNSEEN, ""));
// A name of the data as words: `cut-short` → cut short. An address stays as it is.
export const words = (name) => (/[@.]/.test(name ?? "") ? plain(name) : plain(name).replace(/_+|(?<!\be)-+/g, " "));

// A link that may be followed: what the data checked, looked at once more.
export function safeLink(link) {
  return /^(https?:|mailto:|tel:)/i.test(link ?? "") ? link : null;
}
