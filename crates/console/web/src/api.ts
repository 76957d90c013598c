// Calls of the server. All of them go to the origin of the page.

/** What a server says of a call that it refused. */
export interface Problem {
  status: number;
  title: string;
  detail: string;
  line?: number;
  column?: number;
}

export class Refused extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail);
  }
}

/** What may be done with a table. */
export type Right = "read" | "insert" | "update" | "delete" | "define";

export interface Me {
  user: string | null;
  has_users: boolean;
  roles: string[];
  grants: { table?: string; pairs?: string; allow: string[] }[];
  operates: boolean;
  administers: boolean;
  /** The rights that hold on one table at least, or on tables that are yet to be made. */
  allow: Right[];
  /** The rights that hold on some pairs. */
  allow_pairs: Right[];
  version: string;
}

export interface Column {
  name: string;
  type: string;
  nullable?: boolean;
  key?: number | null;
}

export interface Rows {
  columns: Column[];
  rows: Cell[][];
  more: boolean;
}

export type Cell = string | number | boolean | null | object;

export interface TableInfo {
  path: string;
  columns: Column[];
  definition: string;
  rows_estimate: number;
  /** What this user may do with it. */
  allow: Right[];
}

/** What went wrong, for those who look. */
export const said = (error: unknown): string => (error instanceof Refused ? error.problem.detail : String(error));

/** Told of each answer that says that nobody is logged in. */
export let onLoggedOut = (): void => {};
export function setOnLoggedOut(told: () => void): void {
  onLoggedOut = told;
}

async function refusal(response: Response): Promise<Refused> {
  const told: Partial<Problem> = await response.json().catch(() => ({}));
  if (response.status === 401 && !response.url.endsWith("/v1/login")) onLoggedOut();
  const detail = told.detail ?? response.statusText;
  return new Refused({ title: "failed", ...told, detail, status: response.status });
}

/** Calls, and takes every answer that is no refusal. */
export async function call(path: string, options: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    const detail = "the server does not answer: is it running?";
    throw new Refused({ status: 0, title: "unreachable", detail });
  }
  if (!response.ok) throw await refusal(response);
  return response;
}

export async function read<T>(path: string, options?: RequestInit): Promise<T> {
  // Numbers beyond what JavaScript holds must not be rounded on their way to the page.
  return parseExactly(await (await call(path, options)).text()) as T;
}

/** Reads what the server tells of itself: its fractions are no values of a table. */
export async function readPlain<T>(path: string, options?: RequestInit): Promise<T> {
  return (await (await call(path, options)).json()) as T;
}

export function post(path: string, body: unknown, accept = "application/json", signal?: AbortSignal): Promise<Response> {
  const headers = { "Content-Type": "application/json", Accept: accept };
  return call(path, { method: "POST", headers, body: JSON.stringify(body), signal });
}

/** A statement: rows, or what it did. */
export async function sql(text: string, limit: number, signal?: AbortSignal): Promise<Rows | Record<string, unknown>> {
  const answer = await post("/v1/sql", { sql: text, limit }, "application/json", signal);
  return parseExactly(await answer.text()) as Rows | Record<string, unknown>;
}

/** Reads JSON with long numbers as text. Text in quotes is passed over as it stands. */
export function parseExactly(text: string): unknown {
  const LONG = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]{15,}/g;
  return JSON.parse(text.replace(LONG, (found) => (found.startsWith('"') ? found : `"${found}"`)));
}
