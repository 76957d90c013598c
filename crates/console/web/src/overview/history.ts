// The numbers of the last hour, as long as this page is open. Another screen does not forget them.
import { signal } from "@preact/signals";
import { call } from "../api";
import { type Rates, ratesOf, type Reading, readingOf } from "./metrics";

export const STEP_MS = 2_000;
const KEPT_MS = 3_600_000;

export const latest = signal<Reading | null>(null);
export const history = signal<Rates[]>([]);

/** Whether the reading before this one cannot be told from: the server began anew. */
let isBroken = false;

/** Takes the numbers of now. */
export async function look(signal: AbortSignal): Promise<void> {
  const text = await (await call("/metrics", { signal })).text();
  const now = readingOf(text, Date.now());
  const before = latest.value;
  latest.value = now;
  if (!before) return;
  // A tab that nobody saw asked nothing: what it shows has a gap, not a slope.
  const isFirst = isBroken || history.value.length === 0 || now.at - before.at > 3 * STEP_MS;
  const rates = ratesOf(before, now, isFirst);
  isBroken = rates === null;
  if (rates) history.value = [...history.value.filter(({ at }) => now.at - at <= KEPT_MS), rates];
}
