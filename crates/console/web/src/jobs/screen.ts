// The loads: a lane for each that runs, and below them those that ended.
import { useEffect, useRef, useState } from "preact/hooks";
import { call, type Me, said } from "../api";
import { save } from "../download";
import { html } from "../html";
import { seconds, short, whole } from "../numbers";
import { type Ended, follow, type Load, type Running } from "./follow";
import { Parts } from "./parts";
import { Statements } from "./statements";

const SHOWN_MAX = 200;
/** Rates are those of so many seconds: a load gives its rows in gusts. */
const RATE_SPAN = 5;

const STATES: Record<string, [string, string]> = {
  completed: ["completed", "good"],
  ended_without_marker: ["no end marker", "warn"],
  abandoned: ["abandoned", "bad"],
  stopped: ["stopped", "bad"],
};

function Count({ name, value, isBad }: { name: string; value: string; isBad?: boolean }) {
  return html`<div class=${isBad ? "count bad" : "count"}><dt>${name}</dt><dd>${value}</dd></div>`;
}

/** Whose load it is, and into what. */
function origin({ users, tables }: Load): string {
  const named = users.filter((user) => user !== null);
  return [named.length > 0 && `by ${named.join(", ")}`, tables.length > 0 && `into ${tables.join(", ")}`].filter(Boolean).join(" ");
}

const clock = (job: Load): string => new Date(job.started_ms).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** How far a load has come, where its client has said how much there is. */
function Coming({ job }: { job: Running }) {
  if (!job.expected_rows) return null;
  const share = Math.min(job.counts.read / job.expected_rows, 1);
  const left = job.eta_seconds === null ? "" : `, about ${seconds(job.eta_seconds)} left`;
  return html`<div class="work"><div class="tools"><progress max="1" value=${share} aria-label="Progress"></progress>
    <span>${Math.floor(share * 100)} % of ${whole(job.expected_rows)}${left}</span></div></div>`;
}

/** The records that a load could not store, as a file. */
function Rejects({ job }: { job: Load }) {
  const [failure, setFailure] = useState("");
  if (job.rejects === 0) return null;
  const take = async (): Promise<void> => {
    try {
      const answer = await call(`/v1/jobs/${encodeURIComponent(job.job)}/rejects?format=csv`);
      save(`rejects-${job.job}.csv`, [await answer.text()], "text/csv");
      setFailure("");
    } catch (error) {
      setFailure(said(error));
    }
  };
  return html`<button onClick=${() => void take()}>${job.rejects === 1 ? "The reject" : `${whole(job.rejects)} rejects`} as CSV</button>
    ${failure && html`<p class="failure" role="alert">${failure}</p>`}`;
}

/** Counts of before, by job, to tell a rate from. */
type Past = Map<string, { seconds: number; read: number }[]>;

function rateOf(past: Past, job: Running): number {
  const seen = (past.get(job.job) ?? []).filter((one) => job.seconds - one.seconds <= RATE_SPAN && one.seconds < job.seconds);
  const first = seen[0];
  past.set(job.job, [...seen, { seconds: job.seconds, read: job.counts.read }]);
  if (!first) return job.counts.read / Math.max(job.seconds, 0.001);
  return (job.counts.read - first.read) / (job.seconds - first.seconds);
}

function Lane({ job, rate, onCancel }: { job: Running; rate: number; onCancel: () => void }) {
  const [isSure, setSure] = useState(false);
  const { counts } = job;
  return html`<li class="lane card" key=${job.job}>
    <div class="tools"><h3>${job.name ?? job.job}</h3>
      <span class="hint">${job.name && `${job.job}, `}${origin(job)} in ${job.streams} ${job.streams === 1 ? "stream" : "streams"}, for ${seconds(job.seconds)}</span>
      <span class="spring"></span>
      ${isSure
        ? html`<span>What came stays stored.</span><button class="danger" onClick=${onCancel}>Cancel ${job.name ?? job.job}</button>
          <button onClick=${() => setSure(false)}>Go on</button>`
        : html`<button aria-label=${`Cancel ${job.name ?? job.job}`} onClick=${() => setSure(true)}>Cancel</button>`}</div>
    <${Parts} counts=${counts} />
    <dl class="counts"><${Count} name="rows/s" value=${short(rate)} /><${Count} name="read" value=${whole(counts.read)} />
      <${Count} name="inserted" value=${whole(counts.inserted)} /><${Count} name="existed" value=${whole(counts.existed)} />
      <${Count} name="failed" value=${whole(counts.failed)} isBad=${counts.failed > 0} /></dl>
    <${Coming} job=${job} /><${Rejects} job=${job} />
  </li>`;
}

function EndedJobs({ ended }: { ended: Ended[] }) {
  const [open, setOpen] = useState<string | null>(null);
  if (ended.length === 0) return html`<p class="hint">None has ended since the server began.</p>`;
  return html`<div class="scrolls" tabindex="0" role="region" aria-label="Ended"><table class="plain numbers">
    <thead><tr><th scope="col">Job</th><th scope="col" class="text">By</th><th scope="col" class="text">Into</th><th scope="col">Began</th><th scope="col" class="text">End</th><th scope="col">Read</th><th scope="col">Inserted</th><th scope="col">Existed</th>
      <th scope="col">Failed</th><th scope="col">Took</th><th scope="col">Rows/s</th></tr></thead>
    <tbody>${ended.slice(0, SHOWN_MAX).map((job) => {
      const { total, seconds: took, streams } = job.report;
      const [text, kind] = STATES[job.state] ?? [job.state, ""];
      const isOpen = open === job.job;
      return html`<tr key=${job.job}><th scope="row"><button class="plain" aria-expanded=${isOpen} onClick=${() => setOpen(isOpen ? null : job.job)}>
          ${job.name ?? job.job}</button></th><td class="text">${job.users.filter((user) => user !== null).join(", ")}</td>
        <td class="text">${job.tables.join(", ")}</td><td>${clock(job)}</td><td class="text"><span class=${`pill ${kind}`}>${text}</span></td>
        <td>${whole(total.read)}</td><td>${whole(total.inserted)}</td><td>${whole(total.existed)}</td>
        <td class=${total.failed > 0 ? "bad" : ""}>${whole(total.failed)}</td><td>${seconds(took)}</td><td>${short(total.read / Math.max(took, 0.001))}</td></tr>
        ${isOpen && html`<tr class="more"><td colspan="11" class="text">
          ${job.message && html`<p class="failure">${job.message}</p>`}
          <${Parts} counts=${total} />
          <ul>${streams.map((stream) => html`<li>Stream ${stream.stream} into ${stream.name}: ${whole(stream.counts.read)} read,
            ${" "}${whole(stream.counts.inserted)} inserted, ${whole(stream.counts.failed)} failed${stream.completed ? "" : "; it did not say that it was complete"}</li>`)}</ul>
          <${Rejects} job=${job} />
        </td></tr>`}`;
    })}</tbody>
  </table></div>
  ${ended.length > SHOWN_MAX && html`<p class="hint">The latest ${SHOWN_MAX} of ${whole(ended.length)}.</p>`}`;
}

export default function JobsScreen({ me }: { me: Me }) {
  const [running, setRunning] = useState<Running[] | null>(null);
  const [ended, setEnded] = useState<Ended[]>([]);
  const [failure, setFailure] = useState("");
  const [refused, setRefused] = useState("");
  const past = useRef<Past>(new Map());
  const rates = useRef(new Map<string, number>());
  useEffect(() => follow({
    onRunning: (jobs) => {
      rates.current = new Map(jobs.map((job) => [job.job, rateOf(past.current, job)]));
      for (const id of past.current.keys()) if (!rates.current.has(id)) past.current.delete(id);
      setRunning(jobs);
    },
    onEnded: setEnded,
    onFailure: setFailure,
  }, said, me.operates), []);
  const cancel = (job: Running) => {
    setRefused("");
    call(`/v1/jobs/${encodeURIComponent(job.job)}`, { method: "DELETE" }).catch((error: unknown) => setRefused(said(error)));
  };
  return html`<h1>Jobs</h1>
    ${(failure || refused) && html`<p class="failure" role="alert">${failure || refused}</p>`}
    <h2>Running${running && running.length > 0 ? `: ${running.length}` : ""}</h2>
    ${!running ? html`<p class="hint" role="status">${failure ? "" : "Loading"}</p>`
      : running.length === 0 ? html`<p class="hint">No load runs.</p>`
      : html`<ul class="lanes">${running.map((job) => html`<${Lane} key=${job.job} job=${job} rate=${rates.current.get(job.job) ?? 0} onCancel=${() => cancel(job)} />`)}</ul>`}
    <h2>Ended</h2>
    <${EndedJobs} ended=${ended} />
    <${Statements} />`;
}
