// A row to be changed or deleted. Both hold only if nobody changed it meanwhile.
import { useEffect, useState } from "preact/hooks";
import { call, type Cell, parseExactly, Refused, said, type TableInfo } from "../api";
import { cellText, isNumber } from "../grid";
import { html } from "../html";

type Cells = Record<string, Cell>;

const isDocument = (type: string): boolean => /^(JSON|ARRAY|MAP|RECORD)/.test(type);

/** Where a row is: the query names each column of its key. */
export function rowAddress(table: TableInfo, cells: Cells): string {
  const key = table.columns.filter((column) => typeof column.key === "number");
  const query = new URLSearchParams(key.map(({ name }) => [name, cellText(cells[name] ?? null) ?? ""]));
  return `/v1/tables/${encodeURIComponent(table.path)}/row?${query}`;
}

/** What stands in a field as JSON. Digits go as they are: a number of JavaScript would lose some. */
function written(text: string, type: string): string {
  if (/^BOOLEAN/.test(type) && /^(true|false)$/i.test(text.trim())) return text.trim().toLowerCase();
  if (isNumber({ name: "", type }) && /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text.trim())) return text.trim();
  if (isDocument(type)) {
    JSON.parse(text);
    return text;
  }
  return JSON.stringify(text);
}

interface Props {
  table: TableInfo;
  /** The row as the list has it. */
  cells: Cells;
  /** Told when the row is another one by now, or gone. */
  onChanged: () => void;
  onClosed: () => void;
}

export function RowEditor({ table, cells, onChanged, onClosed }: Props) {
  const [fields, setFields] = useState<Record<string, string | null> | null>(null);
  const [version, setVersion] = useState("");
  const [failure, setFailure] = useState("");
  const [isSaving, setSaving] = useState(false);
  const where = rowAddress(table, cells);
  const others = table.columns.filter((column) => typeof column.key !== "number");
  useEffect(() => {
    // The list may be old by now, and does not tell versions.
    call(where).then(async (answer) => {
      const row = parseExactly(await answer.text()) as Cells;
      setVersion(answer.headers.get("ETag") ?? "");
      setFields(Object.fromEntries(others.map(({ name }) => [name, cellText(row[name] ?? null)])));
    }).catch((error: unknown) => setFailure(said(error)));
  }, [where]);
  const save = async (event: Event) => {
    event.preventDefault();
    setSaving(true);
    try {
      const members = others.map(({ name, type }) => {
        const text = fields![name] ?? null;
        try {
          return `${JSON.stringify(name)}: ${text === null ? "null" : written(text, type)}`;
        } catch {
          throw new Error(`${name} is no JSON: mend it, or make it NULL`);
        }
      });
      const headers = { "Content-Type": "application/json", "If-Match": version };
      await call(where, { method: "PUT", headers, body: `{${members.join(", ")}}` });
      onChanged();
    } catch (error) {
      setFailure(error instanceof Refused ? refused(error) : (error as Error).message);
      setSaving(false);
    }
  };
  const set = (name: string, text: string | null) => setFields((all) => ({ ...all, [name]: text }));
  return html`<form class="row edit" aria-label="Row to be changed" onSubmit=${save}
      onKeyDown=${(event: KeyboardEvent) => void (event.key === "Escape" && onClosed())}>
    ${failure && html`<p class="failure" role="alert">${failure}</p>`}
    ${!fields ? html`<p class="hint" role="status">${failure ? "" : "Loading"}</p>` : others.map(({ name, type, nullable }) => {
      const text = fields[name] ?? null;
      return html`<div class="field"><label for=${`field-${name}`}>${name} <code>${type}</code></label>
        <textarea id=${`field-${name}`} rows=${(text ?? "").length > 60 ? 4 : 1} value=${text ?? ""} placeholder=${text === null ? "NULL" : ""}
          onInput=${(event: Event) => set(name, (event.target as HTMLTextAreaElement).value)}></textarea>
        ${nullable && html`<button type="button" aria-pressed=${text === null} aria-label=${`${name} is NULL`} onClick=${() => set(name, text === null ? "" : null)}>NULL</button>`}</div>`;
    })}
    <div class="tools"><button class="primary" disabled=${!fields || isSaving}>Save</button>
      <button type="button" onClick=${onClosed}>Leave it</button></div>
  </form>`;
}

const refused = (error: Refused): string =>
  error.problem.status === 412 ? "Somebody else has changed the row meanwhile. Leave it, and look again." : error.problem.detail;

/** Deletes a row, if it is still as it was a moment ago; asks once more. */
export function DeleteButton({ table, cells, onChanged }: { table: TableInfo; cells: Cells; onChanged: () => void }) {
  const [isSure, setSure] = useState(false);
  const [failure, setFailure] = useState("");
  const where = rowAddress(table, cells);
  useEffect(() => setSure(false), [where]);
  const remove = async () => {
    if (!isSure) return setSure(true);
    try {
      const version = (await call(where)).headers.get("ETag") ?? "";
      await call(where, { method: "DELETE", headers: { "If-Match": version } });
      onChanged();
    } catch (error) {
      setFailure(error instanceof Refused ? refused(error) : said(error));
    }
  };
  return html`<button class=${isSure ? "danger" : ""} onClick=${() => void remove()}>${isSure ? "Delete for good" : "Delete"}</button>
    ${failure && html`<p class="failure" role="alert">${failure}</p>`}`;
}
