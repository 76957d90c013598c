// The loads that the user may see: those that run, and those that ended.
import { readPlain } from "../api";

const AGAIN_MS = 3_000;
/** Events are for operators: others ask as often. */
const ASK_MS = 2_000;

export interface Counts {
  read: number;
  inserted: number;
  existed: number;
  overtaken: number;
  failed: number;
}

/** What is known of a load from its beginning on. */
export interface Load {
  job: string;
  name: string | null;
  users: (string | null)[];
  tables: string[];
  started_ms: number;
  /** How many records are kept that it could not store. */
  rejects: number;
  report: { total: Counts; streams: Stream[]; seconds: number };
}

export interface Running extends Load {
  state: "running";
  streams: number;
  seconds: number;
  counts: Counts;
  expected_rows: number | null;
  eta_seconds: number | null;
}

export interface Stream {
  stream: number;
  name: string;
  completed: boolean;
  counts: Counts;
}

export interface Ended extends Load {
  state: string;
  message: string | null;
}

export interface Told {
  onRunning: (running: Running[]) => void;
  onEnded: (ended: Ended[]) => void;
  onFailure: (detail: string) => void;
}

/** Follows them while the tab is seen: a stream of events holds one of the few connections that a browser has. */
export function follow(told: Told, said: (error: unknown) => string, hasEvents: boolean): () => void {
  let source: EventSource | null = null;
  let ids = "";
  let timer = 0;
  const list = async (): Promise<void> => {
    try {
      const { jobs } = await readPlain<{ jobs: (Running | Ended)[] }>("/v1/jobs");
      if (!hasEvents) told.onRunning(jobs.filter((job): job is Running => job.state === "running"));
      told.onEnded(jobs.filter((job): job is Ended => job.state !== "running").reverse());
      told.onFailure("");
    } catch (error) {
      told.onFailure(said(error));
    }
  };
  const ask = async (): Promise<void> => {
    await list();
    timer = window.setTimeout(() => void ask(), ASK_MS);
  };
  const begin = (): void => {
    if (!hasEvents) return void ask();
    source = new EventSource("/v1/events");
    source.addEventListener("jobs", (event) => {
      const { jobs } = JSON.parse((event as MessageEvent<string>).data) as { jobs: Running[] };
      told.onRunning(jobs);
      const now = jobs.map(({ job }) => job).join();
      if (now !== ids) void list();
      ids = now;
    });
    // The browser asks again by itself, unless it was refused; the list says why.
    source.addEventListener("error", () => {
      void list();
      if (source?.readyState === EventSource.CLOSED) timer = window.setTimeout(turn, AGAIN_MS);
    });
    void list();
  };
  const turn = (): void => {
    clearTimeout(timer);
    source?.close();
    source = null;
    if (!document.hidden) begin();
  };
  document.addEventListener("visibilitychange", turn);
  turn();
  return () => {
    clearTimeout(timer);
    source?.close();
    document.removeEventListener("visibilitychange", turn);
  };
}
