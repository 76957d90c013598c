// The shell: who is there, the screens they have, and the one that the address names.
import { signal } from "@preact/signals";
import { type ComponentType, render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { About } from "./about";
import { call, type Me, read, Refused, setOnLoggedOut } from "./api";
import { html } from "./html";
import { Login } from "./login";
import { address, place } from "./router";
import { isDark, toggleTheme } from "./theme";

interface Screen {
  name: string;
  title: string;
  /** Whether the user has any use for it: the others are not shown. The server checks each call. */
  isFor: (me: Me) => boolean;
  load: () => Promise<ComponentType<{ me: Me }>>;
}

const reads = (me: Me): boolean => me.allow.includes("read");
const fills = (me: Me): boolean => me.allow.includes("insert");

// Each but the last is fetched when somebody goes there. The first of them that a user has opens.
const SCREENS: Screen[] = [
  { name: "overview", title: "Overview", isFor: (me) => me.operates, load: async () => (await import("./overview/screen")).default },
  { name: "sql", title: "SQL", isFor: reads, load: async () => (await import("./sql/screen")).default },
  { name: "tables", title: "Tables", isFor: reads, load: async () => (await import("./tables/screen")).default },
  { name: "map", title: "Map", isFor: reads, load: async () => (await import("./map/screen")).default },
  { name: "pairs", title: "Pairs", isFor: (me) => me.allow_pairs.includes("read"), load: async () => (await import("./pairs/screen")).default },
  { name: "load", title: "Load", isFor: fills, load: async () => (await import("./load/screen")).default },
  { name: "jobs", title: "Jobs", isFor: (me) => me.operates || fills(me) || reads(me), load: async () => (await import("./jobs/screen")).default },
  { name: "security", title: "Security", isFor: (me) => me.administers, load: async () => (await import("./security/screen")).default },
  { name: "bench", title: "Bench", isFor: () => true, load: async () => (await import("./bench/screen")).default },
  { name: "about", title: "About", isFor: () => true, load: async () => About },
];

const me = signal<Me | null>(null);
const needsLogin = signal(false);
const failure = signal("");
const OWNER = "tonnage.user";
let lastUser: string | null | undefined;

async function meet(): Promise<void> {
  try {
    const now = await read<Me>("/v1/me");
    if (lastUser !== undefined && lastUser !== now.user) {
      // Lists and answers that the page holds are those of another user: it begins anew.
      sessionStorage.clear();
      location.reload();
      return;
    }
    lastUser = now.user;
    // A login may end while nobody looks: what the browser's tab keeps is for its user alone.
    const owner = sessionStorage.getItem(OWNER);
    if (owner !== null && owner !== String(now.user)) sessionStorage.clear();
    sessionStorage.setItem(OWNER, String(now.user));
    me.value = now;
    needsLogin.value = false;
    failure.value = "";
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.problem.status !== 401) {
      failure.value = error.problem.detail;
      setTimeout(() => void meet(), 2000);
    }
  }
}
setOnLoggedOut(() => (needsLogin.value = true));

async function leave(): Promise<void> {
  await call("/v1/logout", { method: "POST" });
  sessionStorage.clear();
  me.value = null;
  needsLogin.value = true;
}

function Body({ screen }: { screen: Screen }) {
  const [Loaded, setLoaded] = useState<{ at: string; is: ComponentType<{ me: Me }> } | null>(null);
  useEffect(() => {
    let isWanted = true;
    void screen.load().then((is) => isWanted && setLoaded({ at: screen.name, is }));
    document.title = `${screen.title} - Tonnage`;
    return () => void (isWanted = false);
  }, [screen.name]);
  if (!Loaded || Loaded.at !== screen.name) return html`<p class="hint" role="status">Loading</p>`;
  return html`<${Loaded.is} me=${me.value} />`;
}

function Shell() {
  if (needsLogin.value) return html`<${Login} onDone=${() => void meet()} />`;
  if (!me.value) return html`<main><p role="status" class="hint">${failure.value || "Loading"}</p></main>`;
  const who = me.value;
  const mine = SCREENS.filter(({ isFor }) => isFor(who));
  const screen = mine.find(({ name }) => name === place.value.screen) ?? mine[0]!;
  // An address may name what others see.
  const hidden = SCREENS.find(({ name }) => name === place.value.screen && name !== screen.name);
  const user = who.user;
  return html`<header class="bar">
      <a class="brand" href="#/" aria-label="Tonnage"><span class="mark" aria-hidden="true"></span><b>Tonnage</b></a>
      <nav aria-label="Screens">${mine.map(
        ({ name, title }) =>
          html`<a href=${address(name)} aria-current=${name === screen.name ? "page" : undefined}>${title}</a>`,
      )}</nav>
      <span class="spring"></span>
      ${user && html`<span class="user">${user}</span>`}
      <button onClick=${toggleTheme} aria-label=${isDark.value ? "Light colours" : "Dark colours"}>${isDark.value ? "☀" : "☾"}</button>
      ${user && html`<button onClick=${() => void leave()}>Log out</button>`}
    </header>
    ${hidden && html`<p class="notice banner" role="status">${hidden.title} is not for ${user ?? "you"}: it takes rights that an administrator gives.</p>`}
    ${failure.value && html`<p class="failure banner" role="alert">${failure.value}</p>`}
    <main id="main" tabindex="-1" key=${screen.name} class=${`screen-${screen.name}`}><${Body} screen=${screen} /></main>`;
}

void meet();
render(html`<${Shell} />`, document.getElementById("app")!);
