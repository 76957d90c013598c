// The land, as coast.mjs wrote it.
import { call } from "../api";
import { down, type View, yOf } from "./world";

declare const COAST: string;

const TURN = 2 ** 32;

/** A ring of land; its longitudes go on beyond the date line. */
export interface Ring {
  xs: Float64Array;
  ys: Float64Array;
  west: number;
  east: number;
}

export function decode(bytes: Uint8Array): Ring[] {
  let at = 0;
  const number = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!;
      value |= (byte & 127) << shift;
      if (byte < 128) return value >>> 0;
    }
  };
  const signed = () => {
    const value = number();
    return (value >>> 1) ^ -(value & 1);
  };
  const rings: Ring[] = [];
  while (at < bytes.length) {
    const count = number();
    const [xs, ys] = [new Float64Array(count), new Float64Array(count)];
    let [lon, lat] = [0, 0];
    for (let point = 0; point < count; point++) {
      xs[point] = (((lon += signed()) / 100 + 180) / 360) * TURN;
      ys[point] = yOf((lat += signed()) / 100);
    }
    rings.push({ xs, ys, west: xs.reduce((a, b) => Math.min(a, b)), east: xs.reduce((a, b) => Math.max(a, b)) });
  }
  return rings;
}

export async function loadCoast(): Promise<Ring[]> {
  const answer = await call(COAST);
  return decode(new Uint8Array(await answer.arrayBuffer()));
}

/** Draws the land as often as the world goes round in the view. */
export function drawCoast(context: CanvasRenderingContext2D, rings: Ring[], view: View, ratio: number, land: string): void {
  const { width, height } = context.canvas;
  const step = view.step / ratio;
  const half = (width / 2) * step;
  context.clearRect(0, 0, width, height);
  context.fillStyle = land;
  context.beginPath();
  for (const { xs, ys, west, east } of rings) {
    const from = Math.ceil((view.x - half - east) / TURN);
    const to = Math.floor((view.x + half - west) / TURN);
    for (let turn = from; turn <= to; turn++) {
      const shift = turn * TURN - view.x;
      let [lastX, lastY] = [NaN, NaN];
      for (let point = 0; point < xs.length; point++) {
        const x = (xs[point]! + shift) / step + width / 2;
        const y = down(ys[point]!, view) * ratio + height / 2;
        if (point === 0) context.moveTo(x, y);
        // What falls on the same pixel shows nothing.
        else if (Math.abs(x - lastX) + Math.abs(y - lastY) < 0.7) continue;
        else context.lineTo(x, y);
        [lastX, lastY] = [x, y];
      }
      context.closePath();
    }
  }
  context.fill("evenodd");
}
