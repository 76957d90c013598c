// Ships as pixels: written into one picture, which costs a hundredth of drawing each.
import type { Fleet } from "./fleet";
import type { View } from "./world";

export interface Colours {
  ship: number;
  edge: number;
  track: string;
  chosen: string;
}

/** A colour as the bytes of a picture have it. */
export function packed(hex: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)) as [number, number, number];
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** The colour of each ship, and 0 for those that are not to be seen; one colour without. */
export type Tints = Uint32Array | null;

export function drawShips(
  context: CanvasRenderingContext2D, fleet: Fleet, view: View, ratio: number, colours: Colours, tints: Tints = null,
): number {
  const { width, height } = context.canvas;
  const picture = context.createImageData(width, height);
  const pixels = new Uint32Array(picture.data.buffer);
  const { xs, ys } = fleet;
  const scale = ratio / view.step;
  const [midX, midY] = [width >> 1, height >> 1];
  // Few ships are large, so that one is found; many are small, so that all are seen.
  const reach = Math.max(1, Math.round((fleet.rows.length > 20_000 ? 1 : fleet.rows.length > 1_000 ? 1.5 : 4) * ratio));
  let seen = 0;
  for (let ship = 0; ship < xs.length; ship++) {
    const x = (((xs[ship]! - view.x) | 0) * scale + midX) | 0;
    const y = ((ys[ship]! - view.y) * scale + midY) | 0;
    if (x < reach || y < reach || x >= width - reach || y >= height - reach) continue;
    const tint = tints === null ? colours.ship : tints[ship]!;
    if (tint === 0) continue;
    seen++;
    for (let row = -reach; row <= reach; row++) {
      const line = (y + row) * width + x;
      for (let column = -reach; column <= reach; column++) {
        const far = row * row + column * column;
        if (far > reach * reach + 1) continue;
        const isEdge = reach > 2 && far > (reach - 1) * (reach - 1);
        pixels[line + column] = isEdge ? colours.edge : tint;
      }
    }
  }
  context.putImageData(picture, 0, 0);
  return seen;
}

/** The way of one ship, and where it is at a point of it. */
export function drawTrack(context: CanvasRenderingContext2D, track: Fleet, at: number, view: View, ratio: number, colours: Colours): void {
  const { width, height } = context.canvas;
  const scale = ratio / view.step;
  const place = (point: number): [number, number] => [
    ((track.xs[point]! - view.x) | 0) * scale + width / 2,
    (track.ys[point]! - view.y) * scale + height / 2,
  ];
  context.lineJoin = "round";
  context.lineWidth = 2.5 * ratio;
  context.strokeStyle = colours.track;
  context.beginPath();
  for (let point = 0, before = NaN; point < track.xs.length; point++) {
    const [x, y] = place(point);
    // A step over the date line would cross the whole map.
    if (point === 0 || Math.abs(x - before) > 2 ** 31 * scale) context.moveTo(x, y);
    else context.lineTo(x, y);
    before = x;
  }
  context.stroke();
  if (at >= track.xs.length) return;
  const [x, y] = place(at);
  context.beginPath();
  context.arc(x, y, 6 * ratio, 0, 2 * Math.PI);
  context.fillStyle = colours.chosen;
  context.fill();
  context.stroke();
}

/** The ship next to a pixel, counted from the middle; none beyond so many pixels. */
export function nearest(fleet: Fleet, x: number, y: number, view: View, tints: Tints = null, within = 14): number | null {
  let [best, least] = [-1, within * within];
  for (let ship = 0; ship < fleet.xs.length; ship++) {
    const dx = ((fleet.xs[ship]! - view.x) | 0) / view.step - x;
    const dy = (fleet.ys[ship]! - view.y) / view.step - y;
    const far = dx * dx + dy * dy;
    if (far < least && tints?.[ship] !== 0) [best, least] = [ship, far];
  }
  return best < 0 ? null : best;
}

/** The ships in view, at most so many. */
export function inView(fleet: Fleet, view: View, width: number, height: number, most: number, tints: Tints = null): number[] {
  const found: number[] = [];
  const [halfX, halfY] = [(width / 2) * view.step, (height / 2) * view.step];
  for (let ship = 0; ship < fleet.xs.length && found.length < most; ship++) {
    if (tints?.[ship] === 0) continue;
    if (Math.abs((fleet.xs[ship]! - view.x) | 0) <= halfX && Math.abs(fleet.ys[ship]! - view.y) <= halfY) found.push(ship);
  }
  return found;
}
