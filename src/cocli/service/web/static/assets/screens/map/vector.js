// A base map of shapes, in the colours of the page. The names are those of Protomaps and of OpenMapTiles.
const NAMED = [
  ["fill", ["earth", "land"], (tones) => ({ "fill-color": tones.paper })],
  ["fill", ["landcover", "landuse", "park"], (tones) => ({ "fill-color": tones["ok-soft"], "fill-opacity": 0.5 })],
  ["fill", ["water"], (tones) => ({ "fill-color": tones["wait-soft"] })],
  ["line", ["waterway"], (tones) => ({ "line-color": tones["wait-soft"], "line-width": 1 })],
  ["fill", ["buildings", "building"], (tones) => ({ "fill-color": tones.line, "fill-opacity": 0.7 })],
  ["line", ["roads", "transportation"], (tones) => ({ "line-color": tones["line-strong"], "line-width": ["interpolate", ["exponential", 1.5], ["zoom"], 6, 0.4, 12, 1, 18, 8] })],
  ["line", ["boundaries", "boundary"], (tones) => ({ "line-color": tones["ink-3"], "line-width": 1, "line-dasharray": [3, 2] })],
];
const PLACES = ["places", "place"];

export function vectorLayers(tones, names) {
  const of = (source) => ({ id: `base-${source}`, source: "base", "source-layer": source });
  const kindOf = { fill: "Polygon", line: "LineString" };
  const below = NAMED.flatMap(([type, sources, paint]) => sources.filter((name) => names.has(name)).map((name) => ({ ...of(name), type, paint: paint(tones), ...(type === "fill" && { filter: ["==", ["geometry-type"], kindOf[type]] }) })));
  const above = PLACES.filter((name) => names.has(name)).map((name) => ({ ...of(name), type: "symbol", layout: { "text-field": ["coalesce", ["get", "name:en"], ["get", "name"]], "text-size": 11, "text-font": ["sans-serif"] }, paint: { "text-color": tones["ink-2"], "text-halo-color": tones.paper, "text-halo-width": 1.4 } }));
  return { below, above };
}
