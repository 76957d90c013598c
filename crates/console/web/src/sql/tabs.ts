// The statements that are open, side by side. They stay as long as the browser's tab, and no longer.

const KEPT = "tonnage.tabs";
const TABS_MAX = 20;

export interface Tab {
  id: number;
  text: string;
}

export interface Tabs {
  all: Tab[];
  /** Which one is seen. */
  at: number;
}

const isTab = (told: unknown): told is Tab => {
  const { id, text } = (told ?? {}) as Partial<Tab>;
  return typeof id === "number" && typeof text === "string";
};

export function keptTabs(): Tabs | null {
  try {
    const { all, at } = JSON.parse(sessionStorage.getItem(KEPT) ?? "{}") as Partial<Tabs>;
    const tabs = (Array.isArray(all) ? all : []).filter(isTab).slice(0, TABS_MAX);
    if (tabs.length === 0) return null;
    return { all: tabs, at: tabs.some(({ id }) => id === at) ? at! : tabs[0]!.id };
  } catch {
    return null;
  }
}

export function keepTabs(tabs: Tabs): void {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(tabs));
  } catch {
    // More than the browser keeps: then they are gone with the page.
  }
}

/** With one more, which is seen. The one that has this text is seen again instead. */
export function withTab({ all }: Tabs, text: string): Tabs {
  const same = all.find((tab) => tab.text === text);
  if (same) return { all, at: same.id };
  const id = Math.max(0, ...all.map((tab) => tab.id)) + 1;
  // The oldest one that is empty, or else the oldest, makes room.
  const gone = all.length < TABS_MAX ? undefined : (all.find((tab) => !tab.text.trim()) ?? all[0]);
  return { all: [...all.filter((tab) => tab !== gone), { id, text }], at: id };
}

/** Without one; the one beside it is seen. There is always one. */
export function withoutTab({ all, at }: Tabs, id: number): Tabs {
  const index = all.findIndex((tab) => tab.id === id);
  const left = all.filter((tab) => tab.id !== id);
  if (left.length === 0) return { all: [{ id: id + 1, text: "" }], at: id + 1 };
  return { all: left, at: at === id ? left[Math.min(index, left.length - 1)]!.id : at };
}

/** What a tab is called: how its statement begins. */
export function titleOf({ id, text }: Tab): string {
  const line = text.replace(/^\s*--.*$/gm, "").replace(/\s+/g, " ").trim();
  if (!line) return `Statement ${id}`;
  return line.length > 24 ? `${line.slice(0, 23)}…` : line;
}
