// The statements that run, and those of before.
import { useEffect, useState } from "preact/hooks";
import { call, readPlain, said } from "../api";
import { html } from "../html";
import { seconds } from "../numbers";
import { address } from "../router";

const ASK_MS = 2_000;
const SHOWN_MAX = 100;

interface Statement {
  statement: string;
  state: string;
  user: string | null;
  text: string;
  started_ms: number;
  seconds: number;
  message: string | null;
}

interface List {
  running: Statement[];
  ended: Statement[];
}

const KINDS: Record<string, string> = { running: "", completed: "good", cancelled: "warn", failed: "bad" };

/** Asks while the tab is seen. */
function followStatements(onList: (list: List) => void, failed: (detail: string) => void): () => void {
  let timer = 0;
  let isOver = false;
  const ask = async (): Promise<void> => {
    clearTimeout(timer);
    try {
      if (!document.hidden) {
        const list = await readPlain<List>("/v1/statements");
        if (isOver) return;
        onList(list);
        failed("");
      }
    } catch (error) {
      failed(said(error));
    }
    if (!isOver) timer = window.setTimeout(() => void ask(), ASK_MS);
  };
  void ask();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

export function Statements() {
  const [list, setList] = useState<List | null>(null);
  const [failure, setFailure] = useState("");
  useEffect(() => followStatements(setList, setFailure), []);
  const cancel = (id: string) => {
    call(`/v1/statements/${encodeURIComponent(id)}`, { method: "DELETE" }).catch((error: unknown) => setFailure(said(error)));
  };
  const all = list ? [...list.running, ...list.ended.slice(0, SHOWN_MAX)] : [];
  return html`<h2>Statements</h2>
    ${failure && html`<p class="failure" role="alert">${failure}</p>`}
    ${!list ? html`<p class="hint">Loading</p>` : all.length === 0 ? html`<p class="hint">None has run since the server began.</p>`
      : html`<div class="scrolls" tabindex="0" role="region" aria-label="Statements"><table class="plain numbers">
        <thead><tr><th scope="col">Statement</th><th scope="col" class="text">By</th><th scope="col" class="text">State</th><th scope="col">Began</th><th scope="col">Took</th><th scope="col" class="text"><span class="unseen">Actions</span></th></tr></thead>
        <tbody>${all.map((one) => html`<tr key=${one.statement}>
          <th scope="row" class="statement"><a href=${address("sql", { q: one.text })}>${one.text}</a>${one.message && html`<p class="bad">${one.message}</p>`}</th>
          <td class="text">${one.user ?? ""}</td><td class="text"><span class=${`pill ${KINDS[one.state] ?? ""}`}>${one.state}</span></td>
          <td>${new Date(one.started_ms).toLocaleTimeString()}</td><td>${seconds(one.seconds)}</td>
          <td class="text">${one.state === "running" && html`<button aria-label=${`Cancel ${one.statement}`} onClick=${() => cancel(one.statement)}>Cancel</button>`}</td></tr>`)}</tbody>
      </table></div>
      ${list.ended.length > SHOWN_MAX && html`<p class="hint">The latest ${SHOWN_MAX} of ${list.ended.length}.</p>`}`}`;
}
