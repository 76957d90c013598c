// The map: the latest row of each shard key, and the track of one.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Refused } from "../api";
import { cellText, Grid } from "../grid";
import { html } from "../html";
import { address, note, place } from "../router";
import { loadTables, tables } from "../sql/catalog";
import { isDark } from "../theme";
import { drawCoast, loadCoast, type Ring } from "./coast";
import { type Fleet, FLEET_MAX, latest, type Layer, layerOf, loadFleet, loadTrack } from "./fleet";
import { drawShips, drawTrack, inView, nearest, packed } from "./ships";
import { latOf, lonOf, moved, type View, viewOf } from "./world";

/** More pixels than these cost time, and show no more. */
const PIXELS_MAX = 2_000_000;
const LISTED_MAX = 1_000;
/** At least so long between two reads; and four times as long as the last one took. */
const PAUSE_MS = 2_000;

const colours = (dark: boolean) =>
  dark
    ? { ship: packed("#ffb454"), edge: packed("#5d3a00"), track: "#6cc6ff", chosen: "#ffffff" }
    : { ship: packed("#b3261e"), edge: packed("#ffffff"), track: "#0b5cab", chosen: "#ffd84d" };

function said(error: unknown): string {
  return error instanceof Refused ? error.problem.detail : String(error);
}

/** The pixels of a canvas for each of the page. */
function fit(canvas: HTMLCanvasElement): number {
  const { clientWidth: width, clientHeight: height } = canvas;
  const ratio = Math.min(devicePixelRatio, Math.sqrt(PIXELS_MAX / Math.max(width * height, 1)));
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  return ratio;
}

/** The latest rows, read again and again while somebody looks. */
function useFleet(layer: Layer | undefined): { fleet: Fleet | null; failure: string } {
  const [fleet, setFleet] = useState<Fleet | null>(null);
  const [failure, setFailure] = useState("");
  useEffect(() => {
    setFleet(null);
    if (!layer) return;
    const ended = new AbortController();
    let timer = 0;
    const read = async () => {
      const started = performance.now();
      try {
        if (!document.hidden) setFleet(await loadFleet(layer, ended.signal));
        setFailure("");
      } catch (error) {
        if (!ended.signal.aborted) setFailure(said(error));
      }
      const pause = Math.max(PAUSE_MS, 4 * (performance.now() - started));
      if (!ended.signal.aborted) timer = window.setTimeout(() => void read(), pause);
    };
    void read();
    return () => {
      ended.abort();
      clearTimeout(timer);
    };
  }, [layer?.table.path]);
  return { fleet, failure };
}

function Map({ layer }: { layer: Layer }) {
  const land = useRef<HTMLCanvasElement>(null);
  const top = useRef<HTMLCanvasElement>(null);
  const coast = useRef<Ring[]>([]);
  const [view, setView] = useState<View | null>(null);
  const { fleet, failure } = useFleet(layer);
  const [track, setTrack] = useState<Fleet | null>(null);
  const [chosen, setChosen] = useState<string | null>(place.value.query.get("key"));
  const [moment, setMoment] = useState(0);
  const [refused, setRefused] = useState("");
  const [size, setSize] = useState(0);
  const asked = useRef<AbortController | null>(null);
  const frame = useRef(0);

  const keyOf = (row: number): string =>
    layer.shard.map((name) => cellText(fleet!.rows[row]![fleet!.columns.findIndex((column) => column.name === name)] ?? null)).join("/");
  const choose = (row: number) => {
    const key = keyOf(row);
    setChosen(key);
    note("map", { table: layer.table.path, key });
    asked.current?.abort();
    const mine = (asked.current = new AbortController());
    loadTrack(layer, fleet!, row, mine.signal).then(
      (found) => {
        setTrack(found);
        setMoment(found.rows.length - 1);
        setRefused("");
      },
      (error: unknown) => void (mine.signal.aborted || setRefused(said(error))),
    );
  };

  useEffect(() => {
    void loadCoast().then((rings) => {
      coast.current = rings;
      setSize((n) => n + 1);
    }, (error: unknown) => setRefused(said(error)));
    const watch = new ResizeObserver(() => setSize((n) => n + 1));
    watch.observe(top.current!);
    return () => {
      watch.disconnect();
      asked.current?.abort();
    };
  }, []);
  useEffect(() => {
    if (!fleet || view) return;
    setView(viewOf(fleet.xs, fleet.ys, top.current!.clientWidth, top.current!.clientHeight));
    const row = chosen === null ? -1 : fleet.rows.findIndex((_, at) => keyOf(at) === chosen);
    if (row >= 0) choose(row);
  }, [fleet]);
  useEffect(() => {
    if (!view) return;
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => {
      if (!land.current || !top.current) return;
      const ratio = fit(land.current);
      fit(top.current);
      const style = getComputedStyle(document.documentElement);
      drawCoast(land.current.getContext("2d")!, coast.current, view, ratio, style.getPropertyValue("--land").trim());
      const context = top.current.getContext("2d")!;
      if (fleet) drawShips(context, fleet, view, ratio, colours(isDark.value));
      if (track) drawTrack(context, track, moment, view, ratio, colours(isDark.value));
    });
  }, [view, fleet, track, moment, size, isDark.value]);

  const go = (dx: number, dy: number, factor = 1, x = 0, y = 0) => setView((now) => now && moved(now, dx, dy, factor, x, y));
  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Record<string, [number, number, number?]> = {
      ArrowLeft: [80, 0], ArrowRight: [-80, 0], ArrowUp: [0, 80], ArrowDown: [0, -80],
      "+": [0, 0, 0.6], "=": [0, 0, 0.6], "-": [0, 0, 1 / 0.6],
    };
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    go(...move);
  };
  const fromMiddle = (event: MouseEvent): [number, number] => {
    const box = top.current!.getBoundingClientRect();
    return [event.clientX - box.left - box.width / 2, event.clientY - box.top - box.height / 2];
  };
  const drag = useRef<{ x: number; y: number; far: number } | null>(null);
  const onPointerDown = (event: PointerEvent) => {
    top.current!.setPointerCapture(event.pointerId);
    drag.current = { x: event.clientX, y: event.clientY, far: 0 };
  };
  const onPointerMove = (event: PointerEvent) => {
    const from = drag.current;
    if (!from) return;
    const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
    drag.current = { x: event.clientX, y: event.clientY, far: from.far + Math.abs(dx) + Math.abs(dy) };
    if (drag.current.far > 4) go(dx, dy);
  };
  const onPointerUp = (event: PointerEvent) => {
    const wasClick = drag.current !== null && drag.current.far <= 4;
    drag.current = null;
    if (!wasClick || !fleet || !view) return;
    const found = nearest(fleet, ...fromMiddle(event), view);
    if (found !== null) choose(found);
  };
  useEffect(() => {
    const canvas = top.current!;
    // Preact's listener would be passive, and the page would scroll.
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      go(0, 0, Math.exp(event.deltaY * 0.002), ...fromMiddle(event));
    };
    canvas.addEventListener("wheel", onWheel, { passive: false });
    return () => canvas.removeEventListener("wheel", onWheel);
  }, []);

  const [near, setNear] = useState<number[]>([]);
  useEffect(() => {
    if (!fleet || !view) return;
    // The list follows when the map rests.
    const list = () => top.current && setNear(inView(fleet, view, top.current.clientWidth, top.current.clientHeight, LISTED_MAX));
    const timer = setTimeout(list, 100);
    return () => clearTimeout(timer);
  }, [fleet, view, size]);
  const listed = useMemo(() => near.map((ship) => fleet?.rows[ship] ?? []), [near]);
  const trouble = failure || refused;
  const count = (n: number) => n.toLocaleString("en");
  return html`<div class="map">
    <div class="sea">
      <canvas ref=${land} aria-hidden="true"></canvas>
      <canvas ref=${top} class="top" tabindex="0" role="application" aria-label=${`Map of ${layer.table.path}: arrows move it, + and - zoom`}
        onKeyDown=${onKeyDown} onPointerDown=${onPointerDown} onPointerMove=${onPointerMove} onPointerUp=${onPointerUp}></canvas>
      <div class="zoom">
        <button aria-label="Zoom in" onClick=${() => go(0, 0, 0.6)}>+</button>
        <button aria-label="Zoom out" onClick=${() => go(0, 0, 1 / 0.6)}>−</button>
      </div>
      <div class="legend" role="status">${!fleet ? html`<p>${trouble ? "" : "Loading"}</p>` : html`<p>
        <b>${count(fleet.rows.length)}</b> at their latest place${fleet.more ? `, the first ${count(FLEET_MAX)}` : ""}${
          fleet.nowhere > 0 ? `; ${count(fleet.nowhere)} without a place` : ""}</p>
        ${view && html`<p class="hint">${latOf(view.y).toFixed(2)}, ${lonOf(view.x).toFixed(2)}</p>`}`}</div>
    </div>
    <section class="near" aria-label="In view">
      ${trouble && html`<p class="failure" role="alert">${trouble}</p>`}
      ${track && html`<h2>${layer.shard.join(", ")} ${chosen}</h2>
        <p class="hint">${count(track.rows.length)} places${track.more ? ", the latest" : ""}</p>
        <label for="moment">Place ${moment + 1}: ${layer.rest.map((name) => cellText(track.rows[moment]?.[track.columns.findIndex((column) => column.name === name)] ?? null)).join(", ")}</label>
        <input id="moment" type="range" min="0" max=${Math.max(track.rows.length - 1, 0)} value=${moment}
          onInput=${(event: Event) => setMoment(Number((event.target as HTMLInputElement).value))} />`}
      <h2>In view${near.length === LISTED_MAX ? `: the first ${count(LISTED_MAX)}` : `: ${count(near.length)}`}</h2>
      ${fleet && html`<${Grid} columns=${fleet.columns} rows=${listed} label="In view"
        onSelect=${(at: number) => near[at] !== undefined && choose(near[at]!)} />`}
    </section>
  </div>`;
}

export default function MapScreen() {
  const [failure, setFailure] = useState("");
  const [isRead, setRead] = useState(false);
  useEffect(() => {
    loadTables().then(() => setRead(true), (error: unknown) => setFailure(said(error)));
  }, []);
  const layers = useMemo(() => tables.value.flatMap((table) => layerOf(table) ?? []), [tables.value]);
  const [picked, setPicked] = useState(place.value.query.get("table"));
  const layer = layers.find(({ table }) => table.path === picked) ?? layers[0];
  if (failure) return html`<p class="failure" role="alert">${failure}</p>`;
  if (isRead && !layer) {
    return html`<div class="tools"><h1>Map</h1><p class="hint">No table has places: columns such as lat and lon, or latitude and longitude.</p></div>`;
  }
  return html`<div class="tools"><h1>Map</h1>
      <label>Table <select value=${layer?.table.path} onChange=${(event: Event) => {
        const path = (event.target as HTMLSelectElement).value;
        setPicked(path);
        note("map", { table: path });
      }}>${layers.map(({ table }) => html`<option value=${table.path} selected=${table.path === layer?.table.path}>${table.path}</option>`)}</select></label>
      <span class="spring"></span>
      ${layer && html`<a class="button" href=${address("sql", { q: latest(layer) })}>SQL</a>`}</div>
    ${layer && html`<${Map} key=${layer.table.path} layer=${layer} />`}`;
}
