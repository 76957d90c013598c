// The audit log, the latest line first.
import { useEffect, useState } from "preact/hooks";
import { readPlain, Refused, said } from "../api";
import { html } from "../html";
import { whole } from "../numbers";

interface Line {
  time_ms: number;
  user: string | null;
  action: string;
  object: string;
  allowed: boolean;
}

interface Tail {
  /** A line that was written by others may be text. */
  lines: (Line | string)[];
  before: number | null;
}

const textOf = (line: Line | string): string => (typeof line === "string" ? line : `${line.user ?? ""} ${line.action} ${line.object}`).toLowerCase();

export function Audit() {
  const [lines, setLines] = useState<(Line | string)[] | null>(null);
  const [before, setBefore] = useState<number | null>(null);
  const [filter, setFilter] = useState("");
  const [isRefused, setRefused] = useState(false);
  const [failure, setFailure] = useState("");
  const [isKept, setKept] = useState(true);
  const take = async (from: number | null, known: (Line | string)[]): Promise<void> => {
    try {
      const tail = await readPlain<Tail>(`/v1/audit?limit=200${from === null ? "" : `&before=${from}`}`);
      setLines([...known, ...tail.lines]);
      setBefore(tail.before);
      setFailure("");
    } catch (error) {
      if (error instanceof Refused && error.problem.status === 404) setKept(false);
      else setFailure(said(error));
    }
  };
  useEffect(() => void take(null, []), []);
  const wanted = filter.trim().toLowerCase();
  const shown = (lines ?? []).filter((line) => textOf(line).includes(wanted) && (!isRefused || (typeof line !== "string" && !line.allowed)));
  if (!isKept) return html`<h2>Audit log</h2><p class="notice">This server keeps no audit log. Start it with <code>--audit</code> and the path of a file.</p>`;
  return html`<div class="tools"><h2>Audit log</h2><span class="spring"></span>
      <label>Filter <input type="search" value=${filter} onInput=${(event: Event) => setFilter((event.target as HTMLInputElement).value)} /></label>
      <label><input type="checkbox" checked=${isRefused} onChange=${(event: Event) => setRefused((event.target as HTMLInputElement).checked)} /> refused alone</label>
      <button onClick=${() => void take(null, [])}>Latest</button></div>
    ${failure && html`<p class="failure" role="alert">${failure}</p>`}
    ${!lines ? html`<p class="hint">${failure ? "" : "Loading"}</p>` : html`<div class="scrolls" tabindex="0" role="region" aria-label="Audit log"><table class="plain numbers">
      <thead><tr><th scope="col">When</th><th scope="col" class="text">User</th><th scope="col" class="text">Action</th><th scope="col" class="text">On</th><th scope="col" class="text">Outcome</th></tr></thead>
      <tbody>${shown.map((line) => typeof line === "string" ? html`<tr><td colspan="5" class="text wraps">${line}</td></tr>`
        : html`<tr><td>${new Date(line.time_ms).toLocaleString()}</td><td class="text">${line.user ?? ""}</td><td class="text">${line.action}</td>
          <td class="text wraps">${line.object}</td><td class="text"><span class=${line.allowed ? "pill good" : "pill bad"}>${line.allowed ? "allowed" : "refused"}</span></td></tr>`)}</tbody>
    </table></div>
    <p class="hint" role="status">${whole(shown.length)} of ${whole(lines.length)} lines.</p>
    ${before !== null && html`<button onClick=${() => void take(before, lines)}>Earlier</button>`}`}`;
}
