// Charts by hand: bars as elements, lines as SVG in the width that there is.
import { html, useLayoutEffect, useRef, useState } from "./dom.js";
import { atMoment, count, onDay, percent, words } from "./format.js";

// Bars that lie: a word, a bar, a figure. With `href` a bar is a filter.
export function Bars({ rows, label }) {
  return html`<ul class="bars" aria-label=${label}>${rows.map((row) => {
    const inside = html`<span class="bar-word">${words(row.word)}</span><span class="bar-room"><i class=${`tone-${row.tone ?? "accent"}`} style=${{ width: `${Math.max(0, Math.min(1, row.share ?? 0)) * 100}%` }} /></span><span class="bar-count">${count(row.count)}</span><span class="bar-share">${row.note ?? percent(row.share)}</span>`;
    return html`<li key=${row.word}>${row.href ? html`<a href=${row.href}>${inside}</a>` : html`<div>${inside}</div>`}</li>`;
  })}</ul>`;
}

function useWidth() {
  const ref = useRef();
  const [width, setWidth] = useState(600);
  useLayoutEffect(() => {
    const watch = new ResizeObserver(([entry]) => setWidth(Math.max(240, Math.floor(entry.contentRect.width))));
    watch.observe(ref.current);
    return () => watch.disconnect();
  }, []);
  return [ref, width];
}

function niceTop(value) {
  const step = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return [1, 2, 2.5, 5, 10].map((part) => part * step).find((top) => top >= value) ?? value;
}

const HEIGHT = 190;
const PAD = { left: 40, right: 12, top: 12, bottom: 24 };

// How figures went over time. `series`: [{name, tone, of: (point) => number or null}].
export function Trend({ points, series, label }) {
  const [ref, width] = useWidth();
  const times = points.map((point) => new Date(point.at).getTime());
  const [first, last] = [times[0], times[times.length - 1]];
  const top = niceTop(Math.max(1, ...points.flatMap((point) => series.map((each) => each.of(point) ?? 0))));
  const x = (at) => PAD.left + (width - PAD.left - PAD.right) * (last > first ? (times[at] - first) / (last - first) : 1);
  const y = (value) => HEIGHT - PAD.bottom - (HEIGHT - PAD.top - PAD.bottom) * (value / top);
  const path = (of) => {
    let line = "";
    points.forEach((point, at) => { const value = of(point); if (value !== null && value !== undefined) line += `${line ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`; });
    return line;
  };
  const when = last - first < 86400000 ? atMoment : onDay;
  const dots = points.length <= 40;
  return html`<figure ref=${ref} class="trend"><svg width=${width} height=${HEIGHT} role="img" aria-label=${label}>
    ${[0, 0.5, 1].map((part) => html`<g><line x1=${PAD.left} x2=${width - PAD.right} y1=${y(top * part)} y2=${y(top * part)} class="rule" /><text x=${PAD.left - 8} y=${y(top * part) + 4} text-anchor="end">${count(top * part)}</text></g>`)}
    <text x=${PAD.left} y=${HEIGHT - 6}>${when(points[0].at)}</text>${last > first && width > 320 && html`<text x=${width - PAD.right} y=${HEIGHT - 6} text-anchor="end">${when(points[points.length - 1].at)}</text>`}
    ${series.map((each) => html`<g class=${`tone-${each.tone} line-${each.dash ?? "whole"}`}><path d=${path(each.of)} class="trend-line" />${dots && points.map((point, at) => { const value = each.of(point); return value === null || value === undefined ? null : html`<circle cx=${x(at)} cy=${y(value)} r="3"><title>${`${onDay(point.at)}: ${count(value)} ${each.name}`}</title></circle>`; })}</g>`)}
  </svg><figcaption class="legend">${series.map((each) => html`<span class="state"><svg width="18" height="10" aria-hidden="true" class=${`tone-${each.tone} line-${each.dash ?? "whole"}`}><path d="M1 5H17" class="trend-line" /></svg>${each.name}</span>`)}</figcaption></figure>`;
}
