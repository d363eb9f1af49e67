// What lies under the tiles of a campaign: `[web] basemap`, or the offline map of coasts, borders and towns.
import { useData } from "../../kit/data.js";
import { vectorLayers } from "./vector.js";

const isTiles = (basemap) => /\{z\}/.test(basemap);

export const useBase = (campaign) => useData(campaign ? `${encodeURIComponent(campaign)}/basemap.geojson` : null, { optional: true });

const of = (kind) => ["==", ["get", "kind"], kind];

// Coasts, borders, counties and towns. Towns stand above the tiles, so that one sees where one is.
function offline(tones, base) {
  if (!base) return { sources: {}, below: [], above: [] };
  const line = (kind, width, dash) => ({ id: `base-${kind}`, type: "line", source: "base", filter: of(kind), paint: { "line-color": tones["line-strong"], "line-width": width, ...(dash && { "line-dasharray": dash }) } });
  return {
    sources: { base: { type: "geojson", data: base } },
    below: [{ id: "base-land", type: "fill", source: "base", filter: of("country"), paint: { "fill-color": tones.paper } }, line("county", 0.6, [2, 2]), line("state", 1), line("country", 1.4)],
    above: [{ id: "base-towns", type: "symbol", source: "base", filter: of("town"), layout: { "text-field": ["get", "name"], "text-size": 11, "text-font": ["sans-serif"], "symbol-sort-key": ["-", 0, ["get", "population"]] }, paint: { "text-color": tones["ink-2"], "text-halo-color": tones.paper, "text-halo-width": 1.4 } }],
    credits: base.credits,
  };
}

const raster = (source) => ({ sources: { base: { type: "raster", tileSize: 256, ...source } }, below: [{ id: "base", type: "raster", source: "base" }], above: [] });

// One file of tiles, read by ranges: pictures, or shapes that are drawn in the colours of the page.
async function packed(library, address, tones) {
  const { PMTiles, Protocol, TileType } = await import("../../vendor/pmtiles/pmtiles.js");
  const url = new URL(address, document.baseURI).href;
  const file = new PMTiles(url);
  const [head, about] = [await file.getHeader(), await file.getMetadata()];
  const protocol = new Protocol();
  protocol.add(file);
  library.addProtocol("pmtiles", protocol.tilev4);
  const source = { tiles: [`pmtiles://${url}/{z}/{x}/{y}`], minzoom: head.minZoom, maxzoom: head.maxZoom, bounds: [head.minLon, head.minLat, head.maxLon, head.maxLat] };
  const credits = String(about?.attribution ?? "").replace(/<[^>]*>/g, "");
  if (head.tileType !== TileType.Mvt) return { ...raster(source), credits };
  const names = new Set((about?.vector_layers ?? []).map((layer) => layer.id));
  return { sources: { base: { type: "vector", ...source } }, ...vectorLayers(tones, names), credits };
}

// `{sources, below, above, credits, problem}`. Where a base map cannot be read, the offline one is shown, and it is said.
export async function groundOf(library, site, tones, base) {
  if (!site?.basemap) return offline(tones, base);
  try {
    const made = isTiles(site.basemap) ? raster({ tiles: [site.basemap] }) : await packed(library, site.basemap, tones);
    return { ...made, credits: site.basemap_credits || made.credits };
  } catch (problem) {
    return { ...offline(tones, base), problem: `The base map cannot be read: ${problem.message}` };
  }
}
