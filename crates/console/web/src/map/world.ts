// The world on a plane: Mercator in 32 whole bits. Differences wrap at the date line by themselves,
// and a step is about a centimetre.

const TURN = 2 ** 32;
/** Beyond this Mercator is not square. */
const LAT_MAX = 85.0511;

export const xOf = (lon: number): number => Math.round(((lon + 180) / 360) * TURN) >>> 0;

export function yOf(lat: number): number {
  const bounded = Math.min(Math.max(lat, -LAT_MAX), LAT_MAX);
  const sine = Math.sin((bounded * Math.PI) / 180);
  const turn = 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI);
  return Math.min(Math.max(Math.round(turn * TURN), 0), TURN - 1) >>> 0;
}

export const lonOf = (x: number): number => ((x >>> 0) / TURN) * 360 - 180;

export function latOf(y: number): number {
  const bounded = Math.min(Math.max(y / TURN, 0), 1);
  return (Math.atan(Math.sinh(Math.PI * (1 - 2 * bounded))) * 180) / Math.PI;
}

/** What of the world is in view. */
export interface View {
  x: number;
  y: number;
  /** Steps of the world for a pixel. */
  step: number;
}

/** Degrees; where west is greater than east it goes across the date line. */
export interface Box {
  west: number;
  south: number;
  east: number;
  north: number;
}

/** What of the world is in so many pixels about the middle of a view. */
export function boxOf(view: View, width: number, height: number): Box {
  const [aside, above] = [(width / 2) * view.step, (height / 2) * view.step];
  const isWhole = 2 * aside >= TURN;
  // Where Mercator ends the view has all that lies behind.
  const lat = (y: number): number => (y <= 0 ? 90 : y >= TURN - 1 ? -90 : latOf(y));
  return {
    west: isWhole ? -180 : lonOf(view.x - aside),
    east: isWhole ? 180 : lonOf(view.x + aside),
    south: lat(view.y + above),
    north: lat(view.y - above),
  };
}

/** Whether a box has all of another. */
export function holds(box: Box, other: Box): boolean {
  if (other.south < box.south || other.north > box.north) return false;
  const east = (lon: number): number => (lon - box.west + 360) % 360;
  const wide = box.east - box.west >= 360 ? 360 : east(box.east);
  return wide === 360 || (east(other.west) <= east(other.east) && east(other.east) <= wide);
}

export const STEP_MIN = 20;
/** The largest step: the whole world in so few pixels. */
export const STEP_MAX = TURN / 360;

/** The pixel of a place, from the middle of the view. */
export const across = (x: number, view: View): number => ((x - view.x) | 0) / view.step;
export const down = (y: number, view: View): number => (y - view.y) / view.step;

/** A view moved and zoomed, about a pixel from its middle. */
export function moved(view: View, dx: number, dy: number, factor = 1, atX = 0, atY = 0): View {
  const step = Math.min(Math.max(view.step * factor, STEP_MIN), STEP_MAX);
  const shift = view.step - step;
  const x = (view.x + Math.round(atX * shift - dx * step)) >>> 0;
  const y = Math.min(Math.max(view.y + Math.round(atY * shift - dy * step), 0), TURN - 1);
  return { x, y, step };
}

/** The view that has all places in it; one of the world without any. */
export function viewOf(xs: Uint32Array, ys: Uint32Array, width: number, height: number): View {
  const whole = { x: xOf(0), y: yOf(25), step: Math.min(TURN / width, STEP_MAX) };
  if (xs.length === 0) return whole;
  // Apart from the outermost hundredth: one ship on the other side of the world says little.
  const middle = xs[xs.length >> 1]!;
  const dx = Int32Array.from(xs, (x) => (x - middle) | 0).sort();
  const dy = Uint32Array.from(ys).sort();
  const low = Math.floor(xs.length / 100);
  const high = xs.length - 1 - low;
  const [left, right, top, bottom] = [dx[low]!, dx[high]!, dy[low]!, dy[high]!];
  const step = Math.max((right - left) / width, (bottom - top) / height) * 1.15;
  return {
    x: (middle + Math.round((left + right) / 2)) >>> 0,
    y: Math.round((top + bottom) / 2),
    step: Math.min(Math.max(step, STEP_MIN * 100), STEP_MAX),
  };
}
