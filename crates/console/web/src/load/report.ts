// What became of a file: counts, and the records that are not stored.
import type { Cell, Column } from "../api";
import { save } from "../download";
import { Grid } from "../grid";
import { html } from "../html";
import { type Counts } from "../jobs/follow";
import { Parts } from "../jobs/parts";
import { seconds as took, whole } from "../numbers";

export interface Failure {
  record: number;
  column: string | null;
  reason: string;
}

export interface PutReport {
  counts: Counts;
  rejected: number;
  failures: Failure[];
  seconds: number;
}

const COLUMNS: Column[] = [{ name: "record", type: "LONG" }, { name: "column", type: "STRING" }, { name: "reason", type: "STRING" }];

const cell = (text: string): string => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function csvOf(failures: Failure[]): string {
  const lines = failures.map(({ record, column, reason }) => [String(record), column ?? "", reason].map(cell).join(","));
  return ["record,column,reason", ...lines, ""].join("\n");
}

export function Failures({ failures, count }: { failures: Failure[]; count: number }) {
  if (failures.length === 0) return null;
  const rows: Cell[][] = failures.map(({ record, column, reason }) => [record, column, reason]);
  return html`<div class="tools"><h2>${count > failures.length ? `The first ${whole(failures.length)} of ${whole(count)}` : whole(count)} ${count === 1 ? "record" : "records"} refused</h2>
      <span class="spring"></span>
      <button onClick=${() => save("rejects.csv", [csvOf(failures)], "text/csv")}>Rejects as CSV</button></div>
    <${Grid} columns=${COLUMNS} rows=${rows} label="Rejects" />
    <p class="hint">Records count from 0, without the header.</p>`;
}

export function Report({ report, table }: { report: PutReport; table: string }) {
  const { counts, failures, seconds } = report;
  const told: [string, number][] = [["read", counts.read], ["inserted", counts.inserted], ["existed", counts.existed], ["failed", counts.failed]];
  return html`<section class="report card" aria-label="Report"><h2>${whole(counts.inserted)} ${counts.inserted === 1 ? "row" : "rows"} inserted into ${table} <span class="hint">in ${took(seconds)}</span></h2>
    <${Parts} counts=${counts} />
    <dl class="counts">${told.map(([name, value]) => html`<div class=${name === "failed" && value > 0 ? "count bad" : "count"}><dt>${name}</dt><dd>${whole(value)}</dd></div>`)}</dl>
    <${Failures} failures=${failures} count=${counts.failed} />
  </section>`;
}
