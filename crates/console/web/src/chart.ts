// Curves over time, as SVG: lines keep their width and colours come from the style sheet.
import { useState } from "preact/hooks";
import { html } from "./html";

export interface Point {
  at: number;
  /** Where a line begins anew. */
  isFirst: boolean;
}

export interface Series<P extends Point> {
  name: string;
  of: (point: P) => number;
}

interface Props<P extends Point> {
  title: string;
  points: P[];
  series: Series<P>[];
  spanMs: number;
  shown: (value: number) => string;
  isBytes?: boolean;
}

const [WIDE, HIGH] = [600, 120];

/** A number that is easily read, and no less than this one: 1, 2 or 5 of a power of ten. */
export function roundUp(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((step) => step * power >= value * 0.999) ?? 10) * power;
}

/** The same for bytes, whose thousands are 1,024. */
export function roundUpBytes(value: number): number {
  let unit = 1_048_576;
  while (value > 1000 * unit) unit *= 1024;
  return roundUp(Math.max(value / unit, 1)) * unit;
}

function line<P extends Point>(points: P[], { of }: Series<P>, x: (at: number) => number, y: (value: number) => number): string {
  let text = "";
  let isOpen = false;
  for (const point of points) {
    const value = of(point);
    if (!Number.isFinite(value)) {
      isOpen = false;
      continue;
    }
    const isLine = isOpen && !point.isFirst;
    // A lone point shows as a dot: round ends make one of a line without length.
    text += isLine ? `L${x(point.at).toFixed(1)} ${y(value).toFixed(1)}` : `M${x(point.at).toFixed(1)} ${y(value).toFixed(1)}h0`;
    isOpen = true;
  }
  return text;
}

export function Chart<P extends Point>({ title, points, series, spanMs, shown, isBytes = false }: Props<P>) {
  const [over, setOver] = useState<number | null>(null);
  const end = points[points.length - 1]?.at ?? 0;
  const seen = points.filter(({ at }) => end - at <= spanMs);
  const values = seen.flatMap((point) => series.map(({ of }) => of(point))).filter(Number.isFinite);
  const top = (isBytes ? roundUpBytes : roundUp)(Math.max(0, ...values));
  const x = (at: number): number => WIDE - ((end - at) / spanMs) * WIDE;
  const y = (value: number): number => HIGH - (value / top) * (HIGH - 4) - 1;
  const at = over === null ? seen.length - 1 : over;
  const told = seen[at];
  const onMove = (event: PointerEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const moment = end - (1 - (event.clientX - box.left) / box.width) * spanMs;
    let best = -1;
    seen.forEach((point, index) => {
      if (best < 0 || Math.abs(point.at - moment) < Math.abs(seen[best]!.at - moment)) best = index;
    });
    setOver(best < 0 ? null : best);
  };
  const said = told ? series.map(({ name, of }) => `${name} ${Number.isFinite(of(told)) ? shown(of(told)) : "none"}`).join(", ") : "no numbers yet";
  const ago = told ? Math.round((end - told.at) / 1000) : 0;
  return html`<figure class="chart card">
    <figcaption><h2>${title}</h2><span class="spring"></span>${series.map(({ name, of }, index) => html`<span class="key">
      <span class=${`swatch s${index + 1}`} aria-hidden="true"></span>${name} <b>${told && Number.isFinite(of(told)) ? shown(of(told)) : "–"}</b></span>`)}</figcaption>
    <div class="plot">
      <span class="limit" aria-hidden="true">${shown(top)}</span>
      <svg viewBox=${`0 0 ${WIDE} ${HIGH}`} preserveAspectRatio="none" role="img" aria-label=${`${title}: ${said}`}
          onPointerMove=${onMove} onPointerLeave=${() => setOver(null)}>
        ${[0, 0.5, 1].map((share) => html`<line class="rule" x1="0" x2=${WIDE} y1=${y(top * share)} y2=${y(top * share)} />`)}
        ${series.map((one, index) => html`<path class=${`line s${index + 1}`} d=${line(seen, one, x, y)} />`)}
        ${over !== null && told && html`<line class="moment" x1=${x(told.at)} x2=${x(told.at)} y1="0" y2=${HIGH} />`}
      </svg>
    </div>
    <p class="hint ends" aria-hidden="true"><span>${spanMs / 60_000} min ago</span><span>${over !== null ? `${ago} s ago` : "now"}</span></p>
  </figure>`;
}
