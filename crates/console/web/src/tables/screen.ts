// The tables: a tree, and what each is and holds.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Cell, type Column, read, said, type TableInfo } from "../api";
import { Grid } from "../grid";
import { html } from "../html";
import { address, note, place } from "../router";
import { loadTables, tables } from "../sql/catalog";
import { DeleteButton, RowEditor } from "./edit";
import { RowView } from "./row";

const PAGE = 200;

interface Page {
  columns: Column[];
  rows: Cell[][];
  first: string | null;
  last: string | null;
  more: boolean;
}

const depth = (path: string): number => path.split(".").length - 1;

function Tree({ filter, at }: { filter: string; at: string }) {
  const shown = tables.value.filter(({ path }) => path.toLowerCase().includes(filter.toLowerCase()));
  const most = Math.max(...shown.map((table) => table.rows_estimate), 1);
  if (shown.length === 0) return html`<p class="hint">${tables.value.length === 0 ? "There are no tables yet." : "No table has this name."}</p>`;
  return html`<ul class="tree">${shown.map((table) => {
    const share = Math.log1p(table.rows_estimate) / Math.log1p(most);
    return html`<li key=${table.path} ref=${(element: HTMLElement | null) => void (element && (element.style.paddingLeft = `${depth(table.path) * 16}px`))}>
      <a href=${address("tables", { path: table.path })} aria-current=${table.path === at ? "true" : undefined}>
        <span>${table.path}</span><span class="hint">${table.rows_estimate.toLocaleString("en")}</span>
        <span class="weight" aria-hidden="true" ref=${(element: HTMLElement | null) => void (element && (element.style.width = `${share * 100}%`))}></span>
      </a></li>`;
  })}</ul>`;
}

function RowsOf({ table }: { table: TableInfo }) {
  const [page, setPage] = useState<Page | null>(null);
  const [ends, setEnds] = useState({ hasBefore: false, hasAfter: false });
  const [failure, setFailure] = useState("");
  const [row, setRow] = useState(0);
  const [isEdited, setEdited] = useState(false);
  const asked = useRef<Record<string, string>>({});
  const go = async (query: Record<string, string>) => {
    try {
      const path = `/v1/tables/${encodeURIComponent(table.path)}/scan`;
      const next = await read<Page>(`${path}?${new URLSearchParams({ limit: String(PAGE), ...query })}`);
      const isBack = "before" in query;
      setEnds(isBack
        ? { hasBefore: next.more, hasAfter: query["before"] !== "" }
        : { hasBefore: "after" in query, hasAfter: next.more });
      asked.current = query;
      setPage(next);
      setRow(0);
      setEdited(false);
      setFailure("");
    } catch (error) {
      setFailure(said(error));
    }
  };
  useEffect(() => void go({}), [table.path]);
  if (failure) return html`<p class="failure" role="alert">${failure}</p>`;
  if (!page) return html`<p class="hint" role="status">Loading</p>`;
  if (page.rows.length === 0 && !ends.hasBefore) return html`<p class="hint">The table is empty.</p>`;
  const picked = page.rows[row];
  const cells = picked && Object.fromEntries(page.columns.map(({ name }, at) => [name, picked[at] ?? null]));
  const choose = (at: number) => {
    setRow(at);
    setEdited(false);
  };
  // The same page again: the row may be another one, or gone.
  const look = () => void go(asked.current);
  return html`<div class="tools" role="group" aria-label="Pages">
      <button onClick=${() => go({})} disabled=${!ends.hasBefore}>First</button>
      <button onClick=${() => go({ before: page.first ?? "" })} disabled=${!ends.hasBefore}>Earlier</button>
      <button onClick=${() => go({ after: page.last ?? "" })} disabled=${!ends.hasAfter}>Later</button>
      <button onClick=${() => go({ before: "" })} disabled=${!ends.hasAfter}>Last</button>
      <span class="hint">${page.rows.length} rows by key</span>
    </div>
    <div class="rows">
      <${Grid} columns=${page.columns} rows=${page.rows} label=${`Rows of ${table.path}`} selected=${row} onSelect=${choose} />
      ${cells && html`<div class="beside">
        <div class="tools">
          ${table.allow.includes("update") && !isEdited && html`<button onClick=${() => setEdited(true)}>Edit</button>`}
          ${table.allow.includes("delete") && !isEdited && html`<${DeleteButton} table=${table} cells=${cells} onChanged=${look} />`}
        </div>
        ${isEdited
          ? html`<${RowEditor} key=${row} table=${table} cells=${cells} onChanged=${look} onClosed=${() => setEdited(false)} />`
          : html`<${RowView} columns=${page.columns} cells=${picked} />`}</div>`}
    </div>`;
}

function Columns({ table }: { table: TableInfo }) {
  return html`<div class="scrolls" tabindex="0" role="region" aria-label="Columns"><table class="plain">
    <thead><tr><th scope="col">Column</th><th scope="col">Type</th><th scope="col">Key</th><th scope="col">NULL</th></tr></thead>
    <tbody>${table.columns.map((column) => html`<tr><td>${column.name}</td><td><code>${column.type}</code></td>
      <td>${typeof column.key === "number" ? column.key + 1 : ""}</td><td>${column.nullable ? "yes" : ""}</td></tr>`)}</tbody>
  </table></div>
  <h2>Definition</h2>
  <pre class="card" tabindex="0" aria-label="Definition">${table.definition}</pre>`;
}

export default function TablesScreen() {
  const [filter, setFilter] = useState("");
  const [failure, setFailure] = useState("");
  const [part, setPart] = useState("rows");
  useEffect(() => {
    loadTables().catch((error: unknown) => setFailure(said(error)));
  }, []);
  const path = place.value.query.get("path") ?? tables.value[0]?.path ?? "";
  const table = useMemo(() => tables.value.find((table) => table.path === path), [tables.value, path]);
  useEffect(() => { if (path && !place.value.query.has("path")) note("tables", { path }); }, [path]);
  return html`<aside aria-label="Tables">
      <h1>Tables</h1>
      <label class="unseen" for="filter">Filter</label>
      <input id="filter" type="search" placeholder="Filter" value=${filter} onInput=${(event: Event) => setFilter((event.target as HTMLInputElement).value)} />
      <${Tree} filter=${filter} at=${path} />
    </aside>
    <section class="table">
      ${failure && html`<p class="failure" role="alert">${failure}</p>`}
      ${table && html`<div class="tools"><h1>${table.path}</h1>
        <span class="hint">about ${table.rows_estimate.toLocaleString("en")} rows</span><span class="spring"></span>
        <button aria-pressed=${part === "rows"} onClick=${() => setPart("rows")}>Rows</button>
        <button aria-pressed=${part === "columns"} onClick=${() => setPart("columns")}>Columns</button>
        ${table.allow.includes("insert") && html`<a class="button" href=${address("load", { table: table.path })}>Load</a>`}
        <a class="button" href=${address("sql", { q: `SELECT * FROM ${table.path} LIMIT 100` })}>SQL</a></div>
        ${part === "rows" ? html`<${RowsOf} key=${table.path} table=${table} />` : html`<${Columns} table=${table} />`}`}
      ${!table && path && tables.value.length > 0 && html`<p class="hint">There is no table ${path}, or you may not see it.</p>`}
    </section>`;
}
