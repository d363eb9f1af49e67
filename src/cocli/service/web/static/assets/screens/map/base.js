// What lies under the tiles: `[web] basemap` as tiles, or the offline map of coasts, borders and towns.
import { useData } from "../../kit/data.js";

const isTiles = (basemap) => /\{z\}/.test(basemap ?? "") && /\{x\}/.test(basemap ?? "");

export const useBase = (campaign) => useData(campaign ? `${encodeURIComponent(campaign)}/basemap.geojson` : null, { optional: true });

export function baseSources(site, base) {
  if (isTiles(site?.basemap)) return { base: { type: "raster", tiles: [site.basemap], tileSize: 256 } };
  return base ? { base: { type: "geojson", data: base } } : {};
}

const of = (kind) => ["==", ["get", "kind"], kind];

export function baseLayers(site, tones, base) {
  if (isTiles(site?.basemap)) return [{ id: "base", type: "raster", source: "base" }];
  if (!base) return [];
  const line = (kind, width, dash) => ({ id: `base-${kind}`, type: "line", source: "base", filter: of(kind), paint: { "line-color": tones["line-strong"], "line-width": width, ...(dash && { "line-dasharray": dash }) } });
  return [{ id: "base-land", type: "fill", source: "base", filter: of("country"), paint: { "fill-color": tones.paper } }, line("county", 0.6, [2, 2]), line("state", 1), line("country", 1.4)];
}

// Towns stand above the tiles, so that one sees where one is.
export function townLayers(site, tones, base) {
  if (!base || isTiles(site?.basemap)) return [];
  return [{ id: "base-towns", type: "symbol", source: "base", filter: of("town"), layout: { "text-field": ["get", "name"], "text-size": 11, "text-font": ["sans-serif"], "symbol-sort-key": ["-", 0, ["get", "population"]] }, paint: { "text-color": tones["ink-2"], "text-halo-color": tones.paper, "text-halo-width": 1.4 } }];
}
