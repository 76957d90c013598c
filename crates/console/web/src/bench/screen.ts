// Reports of benchmarks: one, or two side by side. They are read here and go nowhere.
import { useState } from "preact/hooks";
import { html } from "../html";
import { short } from "../numbers";
import { Curves } from "./curves";
import { differences, type Pair, pairsOf, parseReport, percentile, rateOf, type Report } from "./report";

interface Read {
  file: string;
  report: Report;
}

const micros = (value: number | null): string => (value === null ? "" : value < 1000 ? `${value.toFixed(0)} µs` : `${(value / 1000).toFixed(1)} ms`);

function ratio(one: number | null, other: number | null): string {
  return one && other ? `${(other / one).toFixed(2)} x` : "";
}

function Runs({ pairs, hasTwo, chosen, onChoose }: { pairs: Pair[]; hasTwo: boolean; chosen: number; onChoose: (at: number) => void }) {
  const cells = ({ one, other }: Pair) => {
    const [left, right] = [rateOf(one), other && rateOf(other)];
    const times = [50, 99].map((percent) => [percentile(one, percent), other && percentile(other, percent)] as const);
    return html`<td>${short(left)}</td>${hasTwo && html`<td>${right === null ? "" : short(right)}</td><td><b>${ratio(left, right)}</b></td>`}
      ${times.map(([here, there]) => html`<td>${micros(here)}</td>${hasTwo && html`<td>${micros(there)}</td><td>${ratio(here, there)}</td>`}`)}`;
  };
  const heads = (name: string) => (hasTwo ? html`<th scope="col">${name}</th><th scope="col">second</th><th scope="col">ratio</th>` : html`<th scope="col">${name}</th>`);
  return html`<div class="scrolls" tabindex="0" role="region" aria-label="Runs"><table class="plain numbers">
    <thead><tr><th scope="col">Run</th>${heads("ops/s")}${heads("p50")}${heads("p99")}</tr></thead>
    <tbody>${pairs.map((pair, at) => html`<tr key=${at}><th scope="row"><button class="plain" aria-expanded=${at === chosen} onClick=${() => onChoose(at)}>${pair.name}</button></th>${cells(pair)}</tr>`)}</tbody>
  </table></div>`;
}

export default function BenchScreen() {
  const [read, setRead] = useState<Read[]>([]);
  const [failure, setFailure] = useState("");
  const [chosen, setChosen] = useState(0);
  const [isOver, setOver] = useState(false);
  const take = async (files: File[]): Promise<void> => {
    setFailure("");
    const taken = [...read];
    for (const file of files) {
      try {
        taken.push({ file: file.name, report: parseReport(await file.text()) });
      } catch (error) {
        setFailure(`${file.name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    // The last two count.
    setRead(taken.slice(-2));
    setChosen(0);
  };
  const [one, other] = [read[0]?.report ?? null, read[1]?.report ?? null];
  const pairs = one ? pairsOf(one, other) : [];
  const pair = pairs[chosen];
  const differing = one && other ? differences(one, other) : [];
  return html`<h1>Benchmarks</h1>
    <div class="choice"><input id="reports" class="unseen" type="file" accept=".json,application/json" multiple
        onChange=${(event: Event) => void take([...((event.target as HTMLInputElement).files ?? [])])} />
      <label for="reports" class=${isOver ? "drop over" : "drop"} onDragOver=${(event: DragEvent) => { event.preventDefault(); setOver(true); }} onDragLeave=${() => setOver(false)}
        onDrop=${(event: DragEvent) => { event.preventDefault(); setOver(false); void take([...(event.dataTransfer?.files ?? [])]); }}>
        <b>${one ? "Drop another report" : "Drop one or two reports"}</b>
        <span class="hint">report.json of <code>tonnage bench</code>. They stay in this browser.</span></label></div>
    ${failure && html`<p class="failure" role="alert">${failure}</p>`}
    ${read.length > 0 && html`<dl class="facts">${read.map(({ file, report }, at) => html`<dt>${at === 0 ? "First" : "Second"}</dt><dd>${report.workload}, ${report.started}, ${file}</dd>`)}</dl>
      <${Runs} pairs=${pairs} hasTwo=${other !== null} chosen=${chosen} onChoose=${setChosen} />
      ${pair && html`<h2>${pair.name}</h2><${Curves} one=${pair.one} other=${pair.other} />`}
      ${differing.length > 0 && html`<h2>Conditions that differ</h2>
        <div class="scrolls" tabindex="0" role="region" aria-label="Conditions"><table class="plain numbers"><thead><tr><th scope="col">Condition</th><th scope="col" class="text">First</th><th scope="col" class="text">Second</th></tr></thead>
        <tbody>${differing.map(([name, here, there]) => html`<tr><th scope="row">${name}</th><td class="text wraps">${here}</td><td class="text wraps">${there}</td></tr>`)}</tbody></table></div>`}
      ${[...new Set([...(one?.notes ?? []), ...(other?.notes ?? [])])].map((note) => html`<p class="hint">${note}</p>`)}`}`;
}
