// Statements: written side by side, run, shown and saved.
import { useEffect, useRef, useState } from "preact/hooks";
import { type Me, Refused, type Rows, sql } from "../api";
import { save } from "../download";
import { Grid } from "../grid";
import { html } from "../html";
import { note, place } from "../router";
import { isDark } from "../theme";
import { completions, loadTables, tables } from "./catalog";
import { type Editor, openEditor } from "./editor";
import { download, FILE_KINDS, type FileKind, isRead } from "./files";
import { pastStatements, remember } from "./history";
import { Plan } from "./plan";
import { keepTabs, keptTabs, type Tab, type Tabs, titleOf, withoutTab, withTab } from "./tabs";

type Answer =
  | { kind: "none" }
  | { kind: "rows"; text: string; rows: Rows; ms: number }
  | { kind: "done"; text: string; ms: number }
  | { kind: "failed"; detail: string; place?: string };

function doneText(done: Record<string, unknown>): string {
  if (typeof done["changed"] === "number") {
    const parts = ["inserted", "updated", "deleted", "skipped"].filter((name) => done[name]);
    const told = parts.map((name) => `${String(done[name])} ${name}`).join(", ");
    return `${done["changed"]} rows changed${told && `: ${told}`}`;
  }
  return Object.entries(done).map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`).join("; ");
}

const isPlan = (rows: Rows): boolean => rows.columns.map(({ name }) => name).join() === "plan_type,plan";

function Shown({ answer, isBusy, onFile }: { answer: Answer; isBusy: boolean; onFile: (kind: FileKind, text: string) => void }) {
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
      return html`<div class="tools result"><p role="status" class="status">${answer.rows.more ? `The first ${count}` : count} rows <span class="hint">in ${answer.ms} ms</span></p>
          <span class="spring"></span>
          ${isRead(answer.text) ? html`<span class="hint">All rows as</span>${FILE_KINDS.map((kind) => html`<button disabled=${isBusy} onClick=${() => onFile(kind, answer.text)}>${kind.title}</button>`)}`
            : html`<span class="hint">A change is not run again for a file.</span>`}</div>
        <${Grid} columns=${answer.rows.columns} rows=${answer.rows.rows} label="Result" />`;
    }
  }
}

function TabStrip({ tabs, busy, onSee, onClose, onNew }: {
  tabs: Tabs; busy: Record<number, boolean>; onSee: (id: number) => void; onClose: (id: number) => void; onNew: () => void;
}) {
  return html`<div class="strip" role="group" aria-label="Open statements">${tabs.all.map((tab: Tab) => html`<span class="slip" key=${tab.id}>
      <button aria-pressed=${tab.id === tabs.at} title=${tab.text.slice(0, 300)} onClick=${() => onSee(tab.id)}>${busy[tab.id] ? "… " : ""}${titleOf(tab)}</button>
      ${tab.id === tabs.at && html`<button class="close" aria-label=${`Close ${titleOf(tab)}`} onClick=${() => onClose(tab.id)}>×</button>`}</span>`)}
    <button class="new" aria-label="New statement" onClick=${onNew}>+</button></div>`;
}

/** The statements that were open; what an address says is one of them, and does not run by itself. */
function firstTabs(user: string | null): Tabs {
  const kept = keptTabs();
  const said = place.value.query.get("q");
  if (said !== null) return withTab(kept ?? { all: [], at: 0 }, said);
  return kept ?? withTab({ all: [], at: 0 }, pastStatements(user)[0] ?? "SHOW TABLES");
}

export default function SqlScreen({ me: { user } }: { me: Me }) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | null>(null);
  const running = useRef(new Map<number, AbortController>());
  const [tabs, setTabs] = useState(() => firstTabs(user));
  const [answers, setAnswers] = useState<Record<number, Answer>>({});
  const [busy, setBusy] = useState<Record<number, boolean>>({});
  const [limit, setLimit] = useState(10_000);
  const [past, setPast] = useState(() => pastStatements(user));
  const now = useRef(tabs);
  now.current = tabs;
  const { at } = tabs;
  const isBusy = busy[at] ?? false;
  const tell = (id: number, answer: Answer): void => setAnswers((all) => ({ ...all, [id]: answer }));

  const fail = (id: number, error: unknown): void => {
    if (error instanceof DOMException && error.name === "AbortError") return tell(id, { kind: "failed", detail: "cancelled" });
    if (!(error instanceof Refused)) return tell(id, { kind: "failed", detail: String(error) });
    const { line, column, detail } = error.problem;
    if (line === undefined || column === undefined) return tell(id, { kind: "failed", detail });
    if (now.current.at === id) editor.current?.mark({ line, column, detail });
    const place = `line ${line}, column ${column}`;
    tell(id, { kind: "failed", detail: detail.replace(`${place}: `, ""), place });
  };
  /** Does work for a statement, in place of what it did before. */
  const work = async (id: number, does: (signal: AbortSignal) => Promise<void>): Promise<void> => {
    running.current.get(id)?.abort();
    const mine = new AbortController();
    running.current.set(id, mine);
    setBusy((all) => ({ ...all, [id]: true }));
    editor.current?.mark(null);
    try {
      await does(mine.signal);
    } catch (error) {
      if (running.current.get(id) === mine) fail(id, error);
    } finally {
      if (running.current.get(id) === mine) setBusy((all) => ({ ...all, [id]: false }));
    }
  };
  const run = (prefix = ""): void => {
    const text = editor.current?.text() ?? "";
    if (!text.trim()) return;
    // Who asks for a plan of EXPLAIN means that one.
    const lead = /^\s*explain\b/i.test(text) ? "" : prefix;
    void work(at, async (signal) => {
      const started = performance.now();
      const told = await sql(lead + text, limit, signal);
      const ms = Math.round(performance.now() - started);
      setPast(remember(user, text));
      if (now.current.at === at) note("sql", { q: text });
      if ("rows" in told) return tell(at, { kind: "rows", text: lead + text, rows: told as Rows, ms });
      tell(at, { kind: "done", text: doneText(told), ms });
      void loadTables();
    });
  };
  const runNow = useRef(run);
  runNow.current = run;
  const see = (next: Tabs): void => {
    setTabs(next);
    keepTabs(next);
    editor.current?.open(next.at, next.all.find(({ id }) => id === next.at)!.text);
    note("sql", {});
    editor.current?.focus();
  };
  const close = (id: number): void => {
    running.current.get(id)?.abort();
    running.current.delete(id);
    see(withoutTab(tabs, id));
    editor.current?.forget(id);
  };
  const onText = useRef((text: string): void => {
    const { all, at } = now.current;
    const next = { all: all.map((tab) => (tab.id === at ? { ...tab, text } : tab)), at };
    now.current = next;
    setTabs(next);
    keepTabs(next);
    // The address says what was run, and no longer what stands here.
    if (location.hash.includes("?")) note("sql", {});
  });

  useEffect(() => {
    editor.current = openEditor(host.current!, () => runNow.current(), (text) => onText.current(text));
    editor.current.open(tabs.at, tabs.all.find(({ id }) => id === tabs.at)!.text);
    editor.current.focus();
    keepTabs(tabs);
    void loadTables().catch((error: unknown) => fail(tabs.at, error));
    return () => {
      running.current.forEach((one) => one.abort());
      editor.current?.close();
    };
  }, []);
  useEffect(() => {
    // Another address, while this screen is seen.
    const said = place.value.query.get("q");
    if (said === null || said === editor.current?.text()) return;
    see(withTab(now.current, said));
    note("sql", { q: said });
  }, [place.value]);
  useEffect(() => editor.current?.complete(completions()), [tables.value]);
  useEffect(() => editor.current?.recolour(), [isDark.value]);

  return html`<h1 class="unseen">SQL</h1>
    <${TabStrip} tabs=${tabs} busy=${busy} onSee=${(id: number) => see({ all: tabs.all, at: id })} onClose=${close} onNew=${() => see(withTab(tabs, ""))} />
    <div class="editor" ref=${host}></div>
    <div class="tools">
      <button class="primary" onClick=${() => run()} disabled=${isBusy}>Run</button>
      <button onClick=${() => run("EXPLAIN ")} disabled=${isBusy}>Explain</button>
      ${isBusy && html`<button onClick=${() => running.current.get(at)?.abort()}>Cancel</button>`}
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
    </div>
    <${Shown} answer=${answers[at] ?? { kind: "none" }} isBusy=${isBusy}
      onFile=${(kind: FileKind, text: string) => void work(at, (signal) => download(text, kind, signal))} />`;
}
