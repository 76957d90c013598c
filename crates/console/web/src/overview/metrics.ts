// What /metrics tells, as numbers at a moment, and what happened between two of them.

/** All numbers at a moment. Those of a counter only grow while the server runs. */
export interface Reading {
  at: number;
  rowsIn: number;
  rowsOut: number;
  calls: Map<string, Call>;
  connections: Map<string, number>;
  statements: number;
  rows: number;
  diskBytes: number;
  pendingBytes: number;
  cacheBytes: number;
  failedLogins: number;
}

export interface Call {
  ok: number;
  refused: number;
  failed: number;
  /** Calls that took so long at most, by the bounds of the histogram. */
  within: Map<number, number>;
}

/** What a span of time brought, for each second of it. */
export interface Rates {
  at: number;
  /** Nobody looked before: a line must not lead here. */
  isFirst: boolean;
  rowsIn: number;
  rowsOut: number;
  calls: number;
  refused: number;
  p50: number;
  p99: number;
  pendingBytes: number;
  byCall: CallRates[];
}

export interface CallRates {
  call: string;
  rate: number;
  p50: number;
  p99: number;
  ok: number;
  refused: number;
  failed: number;
}

const LINE = /^tonnage_(\w+?)(?:\{([^}]*)\})? (\S+)/;

function labels(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name!, value!]));
}

export function readingOf(text: string, at: number): Reading {
  const found: Reading = {
    at, rowsIn: 0, rowsOut: 0, calls: new Map(), connections: new Map(), statements: 0, rows: 0, diskBytes: 0,
    pendingBytes: 0, cacheBytes: 0, failedLogins: 0,
  };
  for (const line of text.split("\n")) {
    const parts = LINE.exec(line);
    if (!parts) continue;
    take(found, parts[1]!, labels(parts[2] ?? ""), Number(parts[3]));
  }
  return found;
}

function take(found: Reading, name: string, of: Record<string, string>, value: number): void {
  switch (name) {
    case "rows_total":
      if (of["direction"] === "in") found.rowsIn += value;
      else found.rowsOut += value;
      break;
    case "requests_total": {
      const call = callOf(found, of["call"]!);
      if (of["outcome"] === "refused") call.refused += value;
      else if (of["outcome"] === "failed") call.failed += value;
      else call.ok += value;
      break;
    }
    case "request_seconds_bucket": {
      const { within } = callOf(found, of["call"]!);
      const bound = of["le"] === "+Inf" ? Infinity : Number(of["le"]);
      within.set(bound, (within.get(bound) ?? 0) + value);
      break;
    }
    case "connections_open":
      found.connections.set(of["listener"]!, value);
      break;
    case "statements_running": found.statements = value; break;
    case "store_rows_estimate": found.rows = value; break;
    case "store_disk_bytes": found.diskBytes = value; break;
    case "store_compaction_pending_bytes": found.pendingBytes = value; break;
    case "column_cache_bytes": found.cacheBytes = value; break;
    case "logins_failed_total": found.failedLogins += value; break;
  }
}

function callOf(found: Reading, name: string): Call {
  const known = found.calls.get(name);
  if (known) return known;
  const made = { ok: 0, refused: 0, failed: 0, within: new Map<number, number>() };
  found.calls.set(name, made);
  return made;
}

/** The time that a share of the calls kept to: between the bounds of its bucket in proportion. */
export function quantile(within: Map<number, number>, share: number): number {
  const bounds = [...within.keys()].sort((one, other) => one - other);
  const all = within.get(Infinity) ?? 0;
  if (all <= 0) return NaN;
  const wanted = all * share;
  let [below, count] = [0, 0];
  for (const bound of bounds) {
    const here = within.get(bound)!;
    if (here >= wanted) {
      if (bound === Infinity) return below;
      return below + (bound - below) * ((wanted - count) / Math.max(here - count, 1e-9));
    }
    [below, count] = [bound, here];
  }
  return below;
}

function between(before: Map<number, number> | undefined, after: Map<number, number>): Map<number, number> {
  return new Map([...after].map(([bound, count]) => [bound, count - (before?.get(bound) ?? 0)]));
}

/** What came between two readings; nothing where the server began anew between them. */
export function ratesOf(before: Reading, after: Reading, isFirst: boolean): Rates | null {
  const span = (after.at - before.at) / 1000;
  if (span <= 0 || after.rowsIn < before.rowsIn || after.rowsOut < before.rowsOut) return null;
  const all = new Map<number, number>();
  const byCall: CallRates[] = [];
  for (const [call, now] of after.calls) {
    const was = before.calls.get(call);
    const made = now.ok + now.refused + now.failed - (was ? was.ok + was.refused + was.failed : 0);
    if (made < 0) return null;
    const took = between(was?.within, now.within);
    for (const [bound, count] of took) all.set(bound, (all.get(bound) ?? 0) + count);
    byCall.push({
      call, rate: made / span, p50: quantile(took, 0.5), p99: quantile(took, 0.99),
      ok: now.ok, refused: now.refused, failed: now.failed,
    });
  }
  const refused = byCall.reduce((sum, { call }) => {
    const [was, now] = [before.calls.get(call), after.calls.get(call)!];
    return sum + now.refused + now.failed - (was ? was.refused + was.failed : 0);
  }, 0);
  return {
    at: after.at, isFirst, rowsIn: (after.rowsIn - before.rowsIn) / span, rowsOut: (after.rowsOut - before.rowsOut) / span,
    calls: byCall.reduce((sum, { rate }) => sum + rate, 0), refused: refused / span,
    p50: quantile(all, 0.5), p99: quantile(all, 0.99), pendingBytes: after.pendingBytes, byCall,
  };
}
