// The rates of one or two runs over their time.
import { roundUp } from "../chart";
import { html } from "../html";
import { short } from "../numbers";
import type { Reading, Run } from "./report";

const [WIDE, HIGH] = [600, 160];

const measured = (run: Run | null): Reading[] => (run?.series ?? []).filter((one) => !one.warm_up);

export function Curves({ one, other }: { one: Run; other: Run | null }) {
  const runs = [measured(one), measured(other)];
  const all = runs.flat();
  if (all.length === 0) return html`<p class="hint">This run has no readings over time.</p>`;
  const first = Math.min(...all.map(({ at_seconds }) => at_seconds));
  const last = Math.max(...all.map(({ at_seconds }) => at_seconds), first + 1);
  const top = roundUp(Math.max(...all.map(({ throughput }) => throughput)));
  const x = (at: number): number => ((at - first) / (last - first)) * WIDE;
  const y = (rate: number): number => HIGH - (rate / top) * (HIGH - 4) - 1;
  const path = (readings: Reading[]): string => readings.map(({ at_seconds, throughput }, index) => `${index ? "L" : "M"}${x(at_seconds).toFixed(1)} ${y(throughput).toFixed(1)}`).join("");
  return html`<figure class="chart card">
    <figcaption><h2>Operations a second</h2><span class="spring"></span>
      <span class="key"><span class="swatch s1" aria-hidden="true"></span>first</span>
      ${other && html`<span class="key"><span class="swatch s2" aria-hidden="true"></span>second</span>`}</figcaption>
    <div class="plot"><span class="limit" aria-hidden="true">${short(top)}</span>
      <svg viewBox=${`0 0 ${WIDE} ${HIGH}`} preserveAspectRatio="none" role="img" aria-label=${`Operations a second of ${one.name}, up to ${short(top)}, over ${Math.round(last - first)} seconds`}>
        ${[0, 0.5, 1].map((share) => html`<line class="rule" x1="0" x2=${WIDE} y1=${y(top * share)} y2=${y(top * share)} />`)}
        ${runs.map((readings, index) => html`<path class=${`line s${index + 1}`} d=${path(readings)} />`)}
      </svg></div>
    <p class="hint ends" aria-hidden="true"><span>${Math.round(first)} s</span><span>${Math.round(last)} s</span></p>
  </figure>`;
}
