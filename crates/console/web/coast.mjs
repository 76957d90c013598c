// The land of Natural Earth at 1:50 million as rings of differences.
//
// A ring is a varint with its count of points, then the first point and the differences of the
// others, each number a zigzag varint in hundredths of a degree. Longitudes are unwrapped: a ring
// that crosses the date line goes on beyond 180, and one that goes round a pole is closed along it.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const GRID = 100;
const atlas = join(dirname(fileURLToPath(import.meta.url)), "node_modules/world-atlas/land-50m.json");

/** The rings of a TopoJSON file as lists of degrees. */
function rings({ arcs, objects, transform: { scale, translate } }) {
  const lines = arcs.map((arc) => {
    let x = 0, y = 0;
    return arc.map(([dx, dy]) => [(x += dx) * scale[0] + translate[0], (y += dy) * scale[1] + translate[1]]);
  });
  const line = (index) => (index < 0 ? [...lines[~index]].reverse() : lines[index]);
  // Arcs share their ends.
  const join = (ring) => ring.flatMap((index, at) => line(index).slice(at === 0 ? 0 : 1));
  const polygons = objects.land.geometries.flatMap(({ type, arcs }) => (type === "Polygon" ? [arcs] : arcs));
  return polygons.flatMap((polygon) => polygon.map(join));
}

/** Whole numbers of the grid, without jumps at the date line and without points said twice. */
function unwrap(ring) {
  const points = [];
  let turn = 0, before;
  for (const [lon, lat] of ring) {
    if (before !== undefined && lon - before > 180) turn -= 360;
    if (before !== undefined && before - lon > 180) turn += 360;
    before = lon;
    const point = [Math.round((lon + turn) * GRID), Math.round(lat * GRID)];
    const last = points.at(-1);
    if (!last || last[0] !== point[0] || last[1] !== point[1]) points.push(point);
  }
  const [first, last] = [points[0], points.at(-1)];
  if (Math.abs(last[0] - first[0]) > 180 * GRID) {
    const pole = (first[1] < 0 ? -90 : 90) * GRID;
    points.push([last[0], pole], [first[0], pole]);
  }
  return points;
}

let made;
export function coast() {
  if (made) return made;
  const bytes = [];
  const put = (number) => {
    for (; number > 127; number >>>= 7) bytes.push((number & 127) | 128);
    bytes.push(number);
  };
  const zigzag = (number) => put(((number << 1) ^ (number >> 31)) >>> 0);
  for (const ring of rings(JSON.parse(readFileSync(atlas, "utf8"))).map(unwrap)) {
    if (ring.length < 4) continue;
    put(ring.length);
    let [x, y] = [0, 0];
    for (const [nextX, nextY] of ring) {
      zigzag(nextX - x);
      zigzag(nextY - y);
      [x, y] = [nextX, nextY];
    }
  }
  return (made = Buffer.from(bytes));
}
