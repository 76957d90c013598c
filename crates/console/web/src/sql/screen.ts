// Statements: written, run, shown and saved.
import { useEffect, useRef, useState } from "preact/hooks";
import { post, Refused, type Rows, sql } from "../api";
import { save } from "../download";
import { Grid } from "../grid";
import { html } from "../html";
import { note, place } from "../router";
import { isDark } from "../theme";
import { completions, loadTables, tables } from "./catalog";
import { type Editor, openEditor } from "./editor";
import { Plan } from "./plan";

const HISTORY = "tonnage.history";
const HISTORY_MAX = 100;

type Answer =
  | { kind: "none" }
  | { kind: "rows"; rows: Rows; ms: number }
  | { kind: "done"; text: string; ms: number }
  | { kind: "failed"; detail: string; place?: string };

function pastStatements(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(HISTORY) ?? "[]");
    return Array.isArray(kept) ? kept.filter((text) => typeof text === "string") : [];
  } catch {
    return [];
  }
}

function remember(text: string): string[] {
  const kept = [text, ...pastStatements().filter((other) => other !== text)].slice(0, HISTORY_MAX);
  localStorage.setItem(HISTORY, JSON.stringify(kept));
  return kept;
}

function doneText(done: Record<string, unknown>): string {
  if (typeof done["changed"] === "number") {
    const parts = ["inserted", "updated", "deleted", "skipped"].filter((name) => done[name]);
    const told = parts.map((name) => `${String(done[name])} ${name}`).join(", ");
    return `${done["changed"]} rows changed${told && `: ${told}`}`;
  }
  return Object.entries(done).map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`).join("; ");
}

const isPlan = (rows: Rows): boolean => rows.columns.map(({ name }) => name).join() === "plan_type,plan";

function Shown({ answer }: { answer: Answer }) {
  switch (answer.kind) {
    case "none":
      return html`<p class="hint">Ctrl-Enter runs the statement. Ctrl-Space completes names. Esc, then Tab leaves the editor.</p>`;
    case "failed":
      return html`<div role="alert"><p class="failure">${answer.place && html`<b>${answer.place}: </b>`}${answer.detail}</p></div>`;
    case "done":
      return html`<p role="status">${answer.text} <span class="hint">in ${answer.ms} ms</span></p>`;
    case "rows": {
      if (isPlan(answer.rows)) return html`<${Plan} parts=${answer.rows.rows as [string, string][]} />`;
      const count = answer.rows.rows.length.toLocaleString("en");
      return html`<p role="status" class="status">${answer.rows.more ? `The first ${count}` : count} rows <span class="hint">in ${answer.ms} ms</span></p>
        <${Grid} columns=${answer.rows.columns} rows=${answer.rows.rows} label="Result" />`;
    }
  }
}

export default function SqlScreen() {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | null>(null);
  const running = useRef<AbortController | null>(null);
  const [answer, setAnswer] = useState<Answer>({ kind: "none" });
  const [isBusy, setBusy] = useState(false);
  const [limit, setLimit] = useState(10_000);
  const [past, setPast] = useState(pastStatements);
  const limits = useRef(limit);
  limits.current = limit;

  const fail = (error: unknown) => {
    if (error instanceof DOMException && error.name === "AbortError") return setAnswer({ kind: "failed", detail: "cancelled" });
    if (!(error instanceof Refused)) return setAnswer({ kind: "failed", detail: String(error) });
    const { line, column, detail } = error.problem;
    if (line === undefined || column === undefined) return setAnswer({ kind: "failed", detail });
    editor.current?.mark({ line, column, detail });
    const place = `line ${line}, column ${column}`;
    setAnswer({ kind: "failed", detail: detail.replace(`${place}: `, ""), place });
  };
  const busy = async (work: (signal: AbortSignal) => Promise<void>) => {
    running.current?.abort();
    const mine = new AbortController();
    running.current = mine;
    setBusy(true);
    editor.current?.mark(null);
    try {
      await work(mine.signal);
    } catch (error) {
      fail(error);
    } finally {
      if (running.current === mine) setBusy(false);
    }
  };
  const run = (prefix = "") => {
    const text = editor.current?.text().trim() ? editor.current.text() : "";
    if (!text) return;
    void busy(async (signal) => {
      const started = performance.now();
      const told = await sql(prefix + text, limits.current, signal);
      const ms = Math.round(performance.now() - started);
      setPast(remember(text));
      note("sql", { q: text });
      if ("rows" in told) return setAnswer({ kind: "rows", rows: told as Rows, ms });
      setAnswer({ kind: "done", text: doneText(told), ms });
      void loadTables();
    });
  };
  const download = (kind: string, ending: string) => {
    const text = editor.current?.text() ?? "";
    void busy(async (signal) => {
      const answer = await post("/v1/sql", { sql: text }, kind, signal);
      save(`result.${ending}`, [await answer.blob()], kind);
    });
  };
  const runNow = useRef(run);
  runNow.current = run;

  useEffect(() => {
    // An address may come from anybody: what it says is shown, and never run by itself.
    const first = place.value.query.get("q") ?? pastStatements()[0] ?? "SHOW TABLES";
    editor.current = openEditor(host.current!, first, () => runNow.current(), () => {});
    editor.current.focus();
    void loadTables().catch(fail);
    return () => {
      running.current?.abort();
      editor.current?.close();
    };
  }, []);
  useEffect(() => editor.current?.complete(completions()), [tables.value]);
  useEffect(() => editor.current?.recolour(), [isDark.value]);

  return html`<h1 class="unseen">SQL</h1>
    <div class="editor" ref=${host}></div>
    <div class="tools">
      <button class="primary" onClick=${() => run()} disabled=${isBusy}>Run</button>
      <button onClick=${() => run("EXPLAIN ")} disabled=${isBusy}>Explain</button>
      ${isBusy && html`<button onClick=${() => running.current?.abort()}>Cancel</button>`}
      <label>Rows <select value=${limit} onChange=${(event: Event) => setLimit(Number((event.target as HTMLSelectElement).value))}>
        ${[100, 10_000, 100_000, 1_000_000].map((n) => html`<option value=${n} selected=${n === limit}>${n.toLocaleString("en")}</option>`)}
      </select></label>
      <span class="spring"></span>
      <label>Earlier <select class="past" value="" onChange=${(event: Event) => {
        const select = event.target as HTMLSelectElement;
        if (select.value) editor.current?.set(select.value);
        select.value = "";
        editor.current?.focus();
      }}><option value="">${past.length === 0 ? "none" : "choose"}</option>
        ${past.map((text) => html`<option value=${text}>${text.slice(0, 80)}</option>`)}</select></label>
      <button disabled=${past.length === 0} onClick=${() => save("statements.sql", [past.map((text) => `${text.replace(/;?\s*$/, ";")}\n`).join("\n")], "application/sql")}>Export</button>
      <button disabled=${isBusy} onClick=${() => download("text/csv", "csv")}>CSV</button>
      <button disabled=${isBusy} onClick=${() => download("application/vnd.apache.parquet", "parquet")}>Parquet</button>
    </div>
    <${Shown} answer=${answer} />`;
}
