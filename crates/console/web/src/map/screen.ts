// The map: the latest row of each shard key, and the track of one.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { said } from "../api";
import { cellText, Grid } from "../grid";
import { html } from "../html";
import { address, note, place } from "../router";
import { loadTables, tables } from "../sql/catalog";
import { isDark } from "../theme";
import { colourable, colouringOf, type Scheme, schemeOf } from "./colour";
import { drawCoast, loadCoast, type Ring } from "./coast";
import { type Fleet, FLEET_MAX, latest, type Layer, layerOf, loadTrack } from "./fleet";
import { goOn, type Motion, setOut } from "./motion";
import { useFleet } from "./reading";
import { drawShips, drawTrack, inView, nearest, packed, type Tints } from "./ships";
import { latOf, lonOf, moved, type View, viewOf } from "./world";

/** More pixels than these cost time, and show no more. */
const PIXELS_MAX = 2_000_000;
const LISTED_MAX = 1_000;
/** Beyond so many ships a motion is drawn in every other frame. */
const SMOOTH_MAX = 20_000;
const still = matchMedia("(prefers-reduced-motion: reduce)");

const colours = (dark: boolean) =>
  dark
    ? { ship: packed("#ffb454"), edge: packed("#0b1118"), track: "#6cc6ff", chosen: "#ffffff" }
    : { ship: packed("#b3261e"), edge: packed("#ffffff"), track: "#0b5cab", chosen: "#ffd84d" };

/** The pixels of a canvas for each of the page. */
function fit(canvas: HTMLCanvasElement): number {
  const { clientWidth: width, clientHeight: height } = canvas;
  const ratio = Math.min(devicePixelRatio, Math.sqrt(PIXELS_MAX / Math.max(width * height, 1)));
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  return ratio;
}

const toggled = (all: ReadonlySet<string>, one: string): Set<string> => {
  const next = new Set(all);
  if (!next.delete(one)) next.add(one);
  return next;
};

function Map({ layer, colour }: { layer: Layer; colour: string }) {
  const land = useRef<HTMLCanvasElement>(null);
  const top = useRef<HTMLCanvasElement>(null);
  const coast = useRef<Ring[]>([]);
  const [view, setView] = useState<View | null>(null);
  const canvas = top.current;
  const sight = view && canvas ? { view, width: canvas.clientWidth, height: canvas.clientHeight } : null;
  const { fleet, failure } = useFleet(layer, sight);
  const [track, setTrack] = useState<Fleet | null>(null);
  const [chosen, setChosen] = useState<string | null>(place.value.query.get("key"));
  const [moment, setMoment] = useState(0);
  const [refused, setRefused] = useState("");
  const [size, setSize] = useState(0);
  const asked = useRef<AbortController | null>(null);
  const frame = useRef(0);
  const motion = useRef<Motion | null>(null);
  const arrived = useRef(0);
  const scheme = useRef<Scheme | null>(null);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());

  const keyOf = (row: number): string =>
    layer.shard.map((name) => cellText(fleet!.rows[row]![fleet!.columns.findIndex((column) => column.name === name)] ?? null)).join("/");
  const choose = (row: number) => {
    const key = keyOf(row);
    setChosen(key);
    note("map", { table: layer.table.path, key, ...(colour && { colour }) });
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
  const colouring = useMemo(() => {
    if (!fleet || !colour) return null;
    if (scheme.current?.column !== colour || scheme.current.isMoving) scheme.current = schemeOf(fleet, colour);
    return scheme.current && colouringOf(fleet, scheme.current, isDark.value);
  }, [fleet, colour, isDark.value]);
  const tints = useMemo((): Tints => {
    if (!colouring) return null;
    const colours = colouring.entries.map((entry) => (hidden.has(entry.label) ? 0 : packed(entry.colour)));
    return Uint32Array.from(colouring.of, (entry) => colours[entry]!);
  }, [colouring, hidden]);
  useEffect(() => setHidden(new Set()), [colour]);
  useEffect(() => {
    // The address goes with the choice, so that it can be sent.
    note("map", { table: layer.table.path, ...(chosen !== null && { key: chosen }), ...(colour && { colour }) });
  }, [colour]);

  /** Draws what floats above the land. */
  const paint = (now: View, ratio: number): void => {
    const context = top.current!.getContext("2d")!;
    const seen = motion.current?.seen ?? fleet;
    if (seen) drawShips(context, seen, now, ratio, colours(isDark.value), tints?.length === seen.xs.length ? tints : null);
    if (track) drawTrack(context, track, moment, now, ratio, colours(isDark.value));
  };
  const painting = useRef<() => void>(() => {});
  painting.current = () => view && top.current && paint(view, fit(top.current));
  useEffect(() => {
    if (!view) return;
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => {
      if (!land.current || !top.current) return;
      const ratio = fit(land.current);
      fit(top.current);
      const style = getComputedStyle(document.documentElement);
      drawCoast(land.current.getContext("2d")!, coast.current, view, ratio, style.getPropertyValue("--land").trim());
      paint(view, ratio);
    });
  }, [view, fleet, track, moment, size, tints, isDark.value]);
  // Before they are drawn, new places are made the ends of ways.
  useLayoutEffect(() => {
    if (!fleet) {
      motion.current = null;
      return;
    }
    const now = performance.now();
    const before = still.matches ? null : (motion.current?.seen ?? null);
    const mine = (motion.current = setOut(before, fleet, layer.shard, now, now - arrived.current));
    arrived.current = now;
    if (mine.moving === 0) return;
    let [turn, next] = [0, 0];
    const step = (at: number): void => {
      const isThere = goOn(mine, fleet, at);
      if (isThere || fleet.rows.length <= SMOOTH_MAX || turn++ % 2 === 0) painting.current();
      if (!isThere) next = requestAnimationFrame(step);
    };
    next = requestAnimationFrame(step);
    return () => cancelAnimationFrame(next);
  }, [fleet]);

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
    const found = nearest(motion.current?.seen ?? fleet, ...fromMiddle(event), view, tints);
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
    const list = () => top.current && setNear(inView(fleet, view, top.current.clientWidth, top.current.clientHeight, LISTED_MAX, tints));
    const timer = setTimeout(list, 100);
    return () => clearTimeout(timer);
  }, [fleet, view, size, tints]);
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
      <div class="legend">${!fleet ? html`<p role="status">${trouble ? "" : "Loading"}</p>` : html`<p>
        <b>${count(fleet.rows.length)}</b> ${fleet.isPart ? "in and about the view" : "at their latest place"}${fleet.more ? `, the first ${count(FLEET_MAX)}` : ""}${
          fleet.nowhere > 0 ? `; ${count(fleet.nowhere)} without a place` : ""}</p>
        ${colouring && html`<ul class="entries" aria-label=${colour}>${colouring.entries.filter(({ count }) => count > 0).map((entry) => html`<li><button class="entry" aria-pressed=${!hidden.has(entry.label)}
          title=${hidden.has(entry.label) ? "show" : "hide"} onClick=${() => setHidden((all) => toggled(all, entry.label))}>
          <span class="swatch" aria-hidden="true" ref=${(element: HTMLElement | null) => void (element && (element.style.background = entry.colour))}></span>
          <span class="name">${entry.label}</span> <span class="hint">${count(entry.count)}</span></button></li>`)}</ul>`}
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
  const [colour, setColour] = useState(place.value.query.get("colour") ?? "");
  const choices = layer ? colourable(layer.table.columns, [layer.lat, layer.lon]) : [];
  const chosen = choices.some(({ name }) => name === colour) ? colour : "";
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
      ${choices.length > 0 && html`<label>Colour <select value=${chosen} onChange=${(event: Event) => setColour((event.target as HTMLSelectElement).value)}>
        <option value="">one for all</option>${choices.map(({ name }) => html`<option value=${name} selected=${name === chosen}>${name}</option>`)}</select></label>`}
      <span class="spring"></span>
      ${layer && html`<a class="button" href=${address("sql", { q: latest(layer) })}>SQL</a>`}</div>
    ${layer && html`<${Map} key=${layer.table.path} layer=${layer} colour=${chosen} />`}`;
}
