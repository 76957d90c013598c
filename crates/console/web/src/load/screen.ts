// A file of this computer: chosen, looked at, checked and loaded.
import { useEffect, useRef, useState } from "preact/hooks";
import { call, type Cell, type Column, type Me, Refused, said, type TableInfo } from "../api";
import { Grid } from "../grid";
import { html } from "../html";
import { bytes, whole } from "../numbers";
import { address, note, place } from "../router";
import { loadTables, tables } from "../sql/catalog";
import { definitionOf, keyOf } from "./definition";
import { headOf, kindOf, tableNameOf } from "./file";
import { type Failure, Failures, type PutReport, Report } from "./report";
import { send, type Sending } from "./send";

/** The choice that is no table yet. */
const NEW = "";

interface Preview {
  format: string;
  columns: Column[];
  unknown: string[];
  rows: Cell[][];
  records: number;
  rejected: number;
  failures: Failure[];
}

interface Seen {
  preview: Preview;
  /** Whether all of the file was looked at. */
  isWhole: boolean;
}

/** What is under way, for the bar. */
interface Work {
  name: string;
  share: number;
}

const EXISTING: [string, string, boolean][] = [
  ["keep", "keep the stored row", false],
  ["replace", "replace it", true],
  ["fail", "stop the load", false],
];

function Choice({ file, onFile }: { file: File | null; onFile: (file: File) => void }) {
  const [isOver, setOver] = useState(false);
  const take = (files: FileList | null | undefined): void => {
    const first = files?.[0];
    if (first) onFile(first);
  };
  const onDrop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    take(event.dataTransfer?.files);
  };
  return html`<div class="choice">
    <input type="file" id="file" class="unseen" onChange=${(event: Event) => take((event.target as HTMLInputElement).files)} />
    <label for="file" class=${`drop card ${isOver ? "over" : ""}`} onDrop=${onDrop}
        onDragOver=${(event: DragEvent) => (event.preventDefault(), setOver(true))} onDragLeave=${() => setOver(false)}>
      ${file ? html`<b>${file.name}</b> <span class="hint">${bytes(file.size)}; choose another one</span>`
        : html`<b>Choose a file</b>, or drop it here <span class="hint">CSV, JSON lines, Parquet or Arrow; packed with gzip, too</span>`}
    </label></div>`;
}

function Columns({ columns, unknown, chosen = [], onKey }: { columns: Column[]; unknown: string[]; chosen?: string[]; onKey?: (key: string[]) => void }) {
  return html`<div class="scrolls" tabindex="0" role="region" aria-label="Columns of the file"><table class="plain">
    <thead><tr><th scope="col">Column</th><th scope="col">Type</th>${onKey ? html`<th scope="col">Key</th>` : html`<th scope="col">In the table</th>`}</tr></thead>
    <tbody>${columns.map(({ name, type }) => {
      const at = chosen.indexOf(name);
      return html`<tr><td>${name}</td><td><code>${type}</code></td><td>${onKey
        ? html`<label><input type="checkbox" aria-label=${`${name} is in the key`} checked=${at >= 0}
            onChange=${() => onKey(at >= 0 ? chosen.filter((other) => other !== name) : [...chosen, name])} /> ${at >= 0 ? at + 1 : ""}</label>`
        : unknown.includes(name) ? html`<span class="bad">no</span>` : "yes"}</td></tr>`;
    })}</tbody></table></div>`;
}

export default function LoadScreen({ me }: { me: Me }) {
  const mayDefine = me.allow.includes("define");
  const fillable = tables.value.filter(({ allow }) => allow.includes("insert"));
  const [isRead, setRead] = useState(false);
  const [table, setTable] = useState<string | null>(place.value.query.get("table"));
  const [file, setFile] = useState<File | null>(null);
  const [seen, setSeen] = useState<Seen | null>(null);
  const [work, setWork] = useState<Work | null>(null);
  const [failure, setFailure] = useState("");
  const [report, setReport] = useState<{ report: PutReport; table: string } | null>(null);
  const [name, setName] = useState("");
  const [key, setKey] = useState<string[]>([]);
  const [definition, setDefinition] = useState("");
  const [existing, setExisting] = useState("keep");
  const [errorsMax, setErrorsMax] = useState("");
  const running = useRef<Sending<unknown> | null>(null);
  /** Whether the user cancelled, rather than chose something else. */
  const isStopped = useRef(false);
  /** Whether the next choice of a table leaves the view of the file as it is. */
  const isSeen = useRef(false);
  const target = fillable.find(({ path }) => path === table) ?? (table === null ? fillable[0] : undefined);
  const isNew = !target;

  useEffect(() => {
    loadTables().then(() => setRead(true), (error: unknown) => setFailure(said(error)));
    return () => running.current?.cancel();
  }, []);
  useEffect(() => {
    if (isNew && seen) setDefinition(definitionOf(name || "t", seen.preview.columns, key));
  }, [isNew, seen, name, key]);

  /** Sends the file or its beginning, with the bar for company. */
  const sending = async <T,>(title: string, path: string, body: Blob): Promise<T> => {
    running.current?.cancel();
    isStopped.current = false;
    setWork({ name: title, share: 0 });
    const mine = send<T>(path, body, kindOf(file!.name), (share) => running.current === mine && setWork({ name: title, share }));
    running.current = mine;
    try {
      return await mine.answer;
    } finally {
      if (running.current === mine) setWork(null);
    }
  };
  const guarded = async (act: () => Promise<void>): Promise<void> => {
    setFailure("");
    setReport(null);
    try {
      await act();
    } catch (error) {
      const isCancelled = error instanceof Refused && error.problem.title === "cancelled";
      if (!isCancelled) setFailure(said(error));
      else if (isStopped.current) setFailure("Cancelled. A body that is cut off loads nothing; the server ends a load that it has begun.");
    }
  };
  const preview = (whole: boolean): Promise<void> =>
    guarded(async () => {
      const { head, isWhole } = whole ? { head: file!, isWhole: true } : await headOf(file!);
      const query = target ? `?table=${encodeURIComponent(target.path)}` : "";
      const found = await sending<Preview>(whole ? "Checking" : "Looking", `/v1/preview${query}`, head);
      setSeen({ preview: found, isWhole });
      if (!target) setKey(keyOf(found.columns));
    });
  useEffect(() => {
    if (isSeen.current) {
      isSeen.current = false;
      return;
    }
    setSeen(null);
    if (file && isRead) void preview(false);
  }, [file, target?.path, isRead]);

  const tell = (done: PutReport, into: string): void => setReport({ report: { ...done, seconds: Number(done.seconds) }, table: into });
  const load = (): Promise<void> =>
    guarded(async () => {
      let path = target?.path;
      try {
        if (path === undefined) path = await makeTable();
        const query = new URLSearchParams({ on_existing: existing });
        if (errorsMax.trim()) query.set("errors_max", errorsMax.trim());
        // Then the list of jobs says how far it is.
        if (seen?.isWhole && seen.preview.records > 0) query.set("expected_rows", String(seen.preview.records));
        const done = await sending<PutReport>("Loading", `/v1/tables/${encodeURIComponent(path)}/rows?${query}`, file!);
        tell(done, path);
      } catch (error) {
        // A load that stopped has stored something before.
        if (path !== undefined && error instanceof Refused && "counts" in error.problem) tell(error.problem as unknown as PutReport, path);
        throw error;
      } finally {
        if (isNew && path !== undefined) {
          // It is one of the tables now, whatever became of the rows: what was seen of the file still holds.
          isSeen.current = true;
          setTable(path);
        }
        void loadTables();
      }
    });
  const makeTable = async (): Promise<string> => {
    // Said aloud: the first table of a store must not be taken for a choice meanwhile.
    setTable(NEW);
    const known = new Set(tables.value.map(({ path }) => path));
    await call("/v1/tables", { method: "POST", body: definition });
    const made = (await loadTables()).find(({ path }) => !known.has(path));
    if (!made) throw new Refused({ status: 0, title: "failed", detail: "the definition makes no table: write one CREATE TABLE" });
    return made.path;
  };

  if (isRead && fillable.length === 0 && !mayDefine) return html`<h1>Load a file</h1><p class="hint">There is no table that you may put rows into.</p>`;
  const blocked = !file || !seen || work !== null || (target !== undefined && seen.preview.unknown.length > 0) || (isNew && (key.length === 0 || !definition.trim()));
  const may = (right: TableInfo["allow"][number]): boolean => !target || target.allow.includes(right);
  return html`<h1>Load a file</h1>
    <${Choice} file=${file} onFile=${(chosen: File) => {
      setFile(chosen);
      setName(tableNameOf(chosen.name));
    }} />
    <div class="tools">
      <label>Into <select value=${target?.path ?? NEW} disabled=${work !== null} onChange=${(event: Event) => {
        const path = (event.target as HTMLSelectElement).value;
        setTable(path);
        note("load", path === NEW ? {} : { table: path });
      }}>${fillable.map(({ path }) => html`<option value=${path} selected=${path === target?.path}>${path}</option>`)}
        ${mayDefine && html`<option value=${NEW} selected=${isNew}>a new table</option>`}</select></label>
      ${isNew && html`<label>Name <input value=${name} onInput=${(event: Event) => setName((event.target as HTMLInputElement).value)} /></label>`}
      <label>A row whose key exists: <select value=${existing} onChange=${(event: Event) => setExisting((event.target as HTMLSelectElement).value)}>
        ${EXISTING.filter(([, , changes]) => !changes || may("update")).map(([value, text]) => html`<option value=${value} selected=${value === existing}>${text}</option>`)}</select></label>
      <label>Stop after <input class="few" inputmode="numeric" placeholder="no" value=${errorsMax} onInput=${(event: Event) => setErrorsMax((event.target as HTMLInputElement).value)} /> failures</label>
      <span class="spring"></span>
      ${target && html`<button disabled=${!file || work !== null} onClick=${() => void preview(true)}>Check all of it</button>`}
      <button class="primary" disabled=${blocked} onClick=${() => void load()}>${isNew ? "Make the table, and load" : "Load"}</button>
    </div>
    ${work && html`<div class="tools work"><label for="sent">${work.share < 1 ? `${work.name}: sending` : `${work.name}: the server reads`}</label>
      <progress id="sent" max="1" value=${work.share < 1 ? work.share : undefined}></progress><span class="hint">${work.share < 1 ? `${Math.floor(work.share * 100)} %` : ""}</span>
      <button onClick=${() => { isStopped.current = true; running.current?.cancel(); }}>Cancel</button></div>`}
    ${failure && html`<p class="failure" role="alert">${failure}</p>`}
    <p class="unseen" role="status">${report ? `${whole(report.report.counts.inserted)} rows inserted` : ""}</p>
    ${report && html`<${Report} report=${report.report} table=${report.table} />
      ${target?.allow.includes("read") && html`<p><a href=${address("tables", { path: report.table })}>Rows of ${report.table}</a></p>`}`}
    ${seen && !report && html`<${Look} seen=${seen} isNew=${isNew} table=${target?.path} chosen=${key} onKey=${setKey} definition=${definition} onDefinition=${setDefinition} />`}`;
}

interface LookProps {
  seen: Seen;
  isNew: boolean;
  table: string | undefined;
  chosen: string[];
  onKey: (key: string[]) => void;
  definition: string;
  onDefinition: (text: string) => void;
}

function Look({ seen, isNew, table, chosen, onKey, definition, onDefinition }: LookProps) {
  const { preview, isWhole } = seen;
  const { unknown, rejected, records } = preview;
  const part = isWhole ? whole(records) : `The first ${whole(records)}`;
  return html`<p role="status">${part} records: ${rejected === 0 ? "all" : whole(records - rejected)} fit ${table ?? "these types"}${isWhole ? "" : ". All others are read when it is loaded"}.</p>
    ${unknown.length > 0 && html`<p class="notice">${table} has no ${unknown.length === 1 ? "column" : "columns"} ${unknown.join(", ")}. A load would be refused: choose another table, or leave them out of the file.</p>`}
    ${isNew && chosen.length === 0 && html`<p class="notice">A table needs a key: choose the columns that tell one row from another.</p>`}
    <div class="look">
      <div>${isNew ? html`<${Columns} columns=${preview.columns} unknown=${unknown} chosen=${chosen} onKey=${onKey} />
          <label for="definition">Definition</label>
          <textarea id="definition" rows="8" spellcheck="false" value=${definition} onInput=${(event: Event) => onDefinition((event.target as HTMLTextAreaElement).value)}></textarea>`
        : html`<${Columns} columns=${preview.columns} unknown=${unknown} />`}</div>
      <div class="first"><${Grid} columns=${preview.columns} rows=${preview.rows} label="First rows" />
        <${Failures} failures=${preview.failures} count=${rejected} /></div>
    </div>`;
}
