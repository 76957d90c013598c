// A report of `tonnage bench`: report.json, as far as the screen reads it.

export interface Reading {
  at_seconds: number;
  warm_up: boolean;
  throughput: number;
  p99_us: number | null;
}

export interface Run {
  name: string;
  target: string;
  threads: number;
  failures: number;
  throughputs: number[];
  operations: { name: string; count: number; service: { percentiles: { percent: number; us: number }[] } }[];
  series: Reading[];
}

export interface Report {
  workload: string;
  command: string;
  started: string;
  environment: Record<string, unknown>;
  settings: Record<string, string>;
  runs: Run[];
  notes: string[];
}

const FORMAT = 1;

/** Reads a report, or says what else the text is. */
export function parseReport(text: string): Report {
  let read: Partial<Report> & { format?: number };
  try {
    read = JSON.parse(text) as typeof read;
  } catch {
    throw new Error("it is not JSON: choose the report.json that tonnage bench has written");
  }
  if (!Array.isArray(read.runs) || typeof read.workload !== "string") throw new Error("it has no runs: choose the report.json that tonnage bench has written");
  if (read.format !== FORMAT) throw new Error(`its format is ${read.format}, this page reads ${FORMAT}`);
  return { command: "", started: "", environment: {}, settings: {}, notes: [], ...read } as Report;
}

/** The median of the repeats, operations a second. */
export function rateOf({ throughputs }: Run): number {
  const sorted = [...throughputs].sort((one, other) => one - other);
  if (sorted.length === 0) return 0;
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2;
}

/** A percentile of all operations together, microseconds; nothing for calls that were not timed. */
export function percentile(run: Run, percent: number): number | null {
  const all = run.operations[run.operations.length - 1];
  if (!all || all.count === 0) return null;
  return all.service.percentiles.find((one) => one.percent === percent)?.us ?? null;
}

export interface Pair {
  name: string;
  one: Run;
  other: Run | null;
}

/** The runs of a report, each with that of the other one that has its name, target and threads; where each has one target, the name is enough. */
export function pairsOf(one: Report, other: Report | null): Pair[] {
  const targets = (report: Report): number => new Set(report.runs.map(({ target }) => target)).size;
  const isLoose = other !== null && targets(one) === 1 && targets(other) === 1;
  const left = [...(other?.runs ?? [])];
  const take = (run: Run): Run | null => {
    const same = (it: Run): boolean => it.name === run.name && it.target === run.target && it.threads === run.threads;
    let at = left.findIndex(same);
    if (at < 0 && isLoose) at = left.findIndex((it) => it.name === run.name);
    return at < 0 ? null : left.splice(at, 1)[0]!;
  };
  return one.runs.map((run) => ({ name: `${run.name} / ${run.target} / ${run.threads} ${run.threads === 1 ? "thread" : "threads"}`, one: run, other: take(run) }));
}

/** What both reports say differently of the machine, the program and the settings. */
export function differences(one: Report, other: Report): [string, string, string][] {
  const flat = (report: Report): Map<string, string> =>
    new Map([...Object.entries(report.environment), ...Object.entries(report.settings)].map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]));
  const [left, right] = [flat(one), flat(other)];
  const names = [...new Set([...left.keys(), ...right.keys()])].sort();
  return names.flatMap((name): [string, string, string][] => {
    const [here, there] = [left.get(name) ?? "", right.get(name) ?? ""];
    return here === there ? [] : [[name, here, there]];
  });
}
