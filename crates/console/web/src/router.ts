// The address behind `#`: a screen and what it shows, so that a view can be sent to somebody.
import { signal } from "@preact/signals";

export interface Place {
  screen: string;
  query: URLSearchParams;
}

function here(): Place {
  const [screen = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return { screen, query: new URLSearchParams(query) };
}

export const place = signal(here());
addEventListener("hashchange", () => (place.value = here()));

/** The address of a view. */
export function address(screen: string, query: Record<string, string> = {}): string {
  const text = new URLSearchParams(query).toString();
  return `#/${screen}${text && `?${text}`}`;
}

/** Notes a view in the address without a step more in the browser's history. */
export function note(screen: string, query: Record<string, string>): void {
  history.replaceState(null, "", address(screen, query));
}
