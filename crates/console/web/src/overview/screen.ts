// What the server does, and how it is: curves first, then the same as numbers.
import { useEffect, useState } from "preact/hooks";
import { type Me, readPlain, said } from "../api";
import { Chart, type Series } from "../chart";
import { html } from "../html";
import { bytes, seconds, short, whole } from "../numbers";
import { whileSeen } from "../stay";
import { history, latest, look, STEP_MS } from "./history";
import type { Rates } from "./metrics";

const SPANS = [1, 5, 15, 30, 60];
/** Statistics of a large store cost more than its counters, and change less. */
const STATISTICS_MS = 10_000;

interface Shard {
  place: string;
  rows_estimate: number;
  disk_bytes: number;
  files: number;
  memtable_bytes: number;
  cache_bytes: number;
  compaction_pending_bytes: number;
}

interface Statistics {
  tables: number;
  rows_estimate: number;
  disk_bytes: number;
  compaction_pending_bytes: number;
  loads: number;
  shards: Shard[];
}

const ROWS: Series<Rates>[] = [{ name: "in", of: (rates) => rates.rowsIn }, { name: "out", of: (rates) => rates.rowsOut }];
const CALLS: Series<Rates>[] = [{ name: "all", of: (rates) => rates.calls }, { name: "refused or failed", of: (rates) => rates.refused }];
const TIMES: Series<Rates>[] = [{ name: "half within", of: (rates) => rates.p50 }, { name: "99 % within", of: (rates) => rates.p99 }];
const PENDING: Series<Rates>[] = [{ name: "waits", of: (rates) => rates.pendingBytes }];

function Tile({ name, value, note }: { name: string; value: string; note?: string }) {
  return html`<div class="tile card"><dt>${name}</dt><dd>${value}${note && html` <span class="hint">${note}</span>`}</dd></div>`;
}

function Calls({ rates }: { rates: Rates | undefined }) {
  if (!rates) return html`<p class="hint">Rates come with the next numbers, in ${STEP_MS / 1000} seconds.</p>`;
  const calls = [...rates.byCall].sort((one, other) => other.rate - one.rate || one.call.localeCompare(other.call));
  if (calls.length === 0) return html`<p class="hint">No calls yet.</p>`;
  const time = (value: number) => (Number.isFinite(value) ? seconds(value) : "–");
  return html`<div class="scrolls" tabindex="0" role="region" aria-label="Calls"><table class="plain numbers">
    <thead><tr><th scope="col">Call</th><th scope="col">A second</th><th scope="col">Half within</th><th scope="col">99 % within</th>
      <th scope="col">Done</th><th scope="col">Refused</th><th scope="col">Failed</th></tr></thead>
    <tbody>${calls.map((one) => html`<tr key=${one.call}><th scope="row">${one.call}</th><td>${short(one.rate)}</td><td>${time(one.p50)}</td>
      <td>${time(one.p99)}</td><td>${whole(one.ok)}</td><td>${whole(one.refused)}</td><td>${whole(one.failed)}</td></tr>`)}</tbody>
  </table></div>`;
}

function Places({ shards }: { shards: Shard[] }) {
  return html`<div class="scrolls" tabindex="0" role="region" aria-label="Places"><table class="plain numbers">
    <thead><tr><th scope="col">Place</th><th scope="col">Rows</th><th scope="col">On disk</th><th scope="col">Files</th>
      <th scope="col">Not yet on disk</th><th scope="col">Cache</th><th scope="col">To compact</th></tr></thead>
    <tbody>${shards.map((one) => html`<tr key=${one.place}><th scope="row">${one.place}</th><td>${whole(one.rows_estimate)}</td>
      <td>${bytes(one.disk_bytes)}</td><td>${whole(one.files)}</td><td>${bytes(one.memtable_bytes)}</td><td>${bytes(one.cache_bytes)}</td>
      <td>${bytes(one.compaction_pending_bytes)}</td></tr>`)}</tbody>
  </table></div>`;
}

export default function OverviewScreen({ me }: { me: Me }) {
  const [minutes, setMinutes] = useState(1);
  const [failure, setFailure] = useState("");
  const [statistics, setStatistics] = useState<Statistics | null>(null);
  useEffect(() => {
    const guarded = (work: (ended: AbortSignal) => Promise<void>) => async (ended: AbortSignal) => {
      try {
        await work(ended);
        if (!ended.aborted) setFailure("");
      } catch (error) {
        if (!ended.aborted) setFailure(said(error));
      }
    };
    const ends = [
      whileSeen(STEP_MS, guarded(look)),
      whileSeen(STATISTICS_MS, guarded(async (signal) => setStatistics(await readPlain<Statistics>("/v1/statistics", { signal })))),
    ];
    return () => ends.forEach((end) => end());
  }, []);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const span = SPANS[Number(event.key) - 1];
      if (span === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
      setMinutes(span);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  const now = latest.value;
  const points = history.value;
  const spanMs = minutes * 60_000;
  if (!now) return html`<h1>Overview</h1>${failure ? html`<p class="failure" role="alert">${failure}</p>` : html`<p class="hint" role="status">Loading</p>`}`;
  const open = [...now.connections.values()].reduce((sum, count) => sum + count, 0);
  return html`<div class="tools"><h1>Overview</h1>
      ${failure ? html`<span class="pill bad" role="alert">${failure}</span>` : html`<span class="pill good" role="status">answers</span>`}
      <span class="hint">Tonnage ${me.version}</span><span class="spring"></span>
      <div class="group" role="group" aria-label="Span">${SPANS.map((span, at) => html`<button aria-pressed=${span === minutes}
        title=${`key ${at + 1}`} onClick=${() => setMinutes(span)}>${span} min</button>`)}</div></div>
    <dl class="tiles">
      <${Tile} name="Rows, about" value=${short(now.rows)} />
      <${Tile} name="On disk" value=${bytes(now.diskBytes)} />
      <${Tile} name="Tables" value=${statistics ? whole(statistics.tables) : "–"} />
      <${Tile} name="Loads" value=${statistics ? whole(statistics.loads) : "–"} note="running" />
      <${Tile} name="Statements" value=${whole(now.statements)} note="running" />
      <${Tile} name="Connections" value=${whole(open)} note=${[...now.connections].filter(([, count]) => count > 0).map(([name, count]) => `${count} ${name}`).join(", ")} />
      <${Tile} name="Logins" value=${whole(now.failedLogins)} note="refused" />
    </dl>
    <div class="charts">
      <${Chart} title="Rows a second" points=${points} series=${ROWS} spanMs=${spanMs} shown=${short} />
      <${Chart} title="Calls a second" points=${points} series=${CALLS} spanMs=${spanMs} shown=${short} />
      <${Chart} title="Time of a call" points=${points} series=${TIMES} spanMs=${spanMs} shown=${seconds} />
      <${Chart} title="To compact" points=${points} series=${PENDING} spanMs=${spanMs} shown=${bytes} isBytes />
    </div>
    <h2>Calls, in the last ${STEP_MS / 1000} seconds</h2>
    <${Calls} rates=${points[points.length - 1]} />
    ${statistics && html`<h2>Where the store lies</h2><${Places} shards=${statistics.shards} />`}`;
}
