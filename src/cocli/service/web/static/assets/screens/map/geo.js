// Geometry of the map: projection, bounds, and shapes out of a KML or GeoJSON file.
export const MOST_BYTES = 20 * 1024 * 1024;

export const mercator = ([lon, lat]) => {
  const bounded = Math.max(-85, Math.min(85, lat));
  return [lon, -(Math.log(Math.tan(Math.PI / 4 + (bounded * Math.PI) / 360)) * 180) / Math.PI];
};

export const unproject = ([x, y]) => [x, (360 / Math.PI) * Math.atan(Math.exp((-y * Math.PI) / 180)) - 90];

function* positions(value) {
  if (typeof value?.[0] === "number") yield value;
  else if (Array.isArray(value)) for (const part of value) yield* positions(part);
}

export function boundsOf(features) {
  let box = null;
  for (const feature of features) {
    for (const [lon, lat] of positions(feature.geometry?.coordinates)) {
      box = box ? [Math.min(box[0], lon), Math.min(box[1], lat), Math.max(box[2], lon), Math.max(box[3], lat)] : [lon, lat, lon, lat];
    }
  }
  return box;
}

const coordinatesOf = (text) => text.trim().split(/\s+/).map((triple) => triple.split(",").slice(0, 2).map(Number)).filter(([lon, lat]) => Math.abs(lon) <= 180 && Math.abs(lat) <= 90);

// Shapes of a KML. Only coordinates and names are taken, as texts; nothing in the file is followed.
function shapesOfKml(text) {
  const features = [];
  for (const [, inside] of text.matchAll(/<Placemark\b[^>]*>([\s\S]*?)<\/Placemark>/g)) {
    const name = /<name>([\s\S]*?)<\/name>/.exec(inside)?.[1]?.replace(/<!\[CDATA\[|\]\]>/g, "") ?? "";
    for (const [, kind, body] of inside.matchAll(/<(Polygon|LineString|Point)\b[^>]*>([\s\S]*?)<\/\1>/g)) {
      const rings = [...body.matchAll(/<coordinates>([\s\S]*?)<\/coordinates>/g)].map(([, each]) => coordinatesOf(each)).filter((ring) => ring.length);
      if (!rings.length) continue;
      const coordinates = { Polygon: rings, LineString: rings[0], Point: rings[0][0] }[kind];
      features.push({ type: "Feature", properties: { name }, geometry: { type: kind, coordinates } });
    }
  }
  return features;
}

export async function shapesOf(file) {
  if (file.size > MOST_BYTES) throw new Error("The file is bigger than 20 MB.");
  const text = await file.text();
  const features = /^\s*\{/.test(text) ? JSON.parse(text).features ?? [] : shapesOfKml(text);
  if (!features.length) throw new Error("There is no shape in this file. It must be KML or GeoJSON.");
  return features;
}

export const STATES = ["read", "stale", "cut-short", "blocked", "unread", "mixed"];

// The colours of the tokens, as the page shows them now.
export function colours() {
  const probe = document.body.appendChild(document.createElement("span"));
  const read = (name) => { probe.style.color = `var(--${name})`; return getComputedStyle(probe).color; };
  const found = {};
  for (const name of ["ok", "warn", "bad", "cut", "none", "wait", "accent", "ink", "ink-2", "ink-3", "paper", "canvas", "sunken", "line", "line-strong", "ok-soft", "wait-soft"]) found[name] = read(name);
  probe.remove();
  return found;
}
export const STATE_TONES = { read: "ok", stale: "warn", "cut-short": "cut", blocked: "bad", unread: "none", mixed: "wait" };
