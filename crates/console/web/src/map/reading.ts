// The rows that a map shows, read again and again while somebody looks.
import { useEffect, useRef, useState } from "preact/hooks";
import { said } from "../api";
import { type Fleet, type Layer, loadFleet } from "./fleet";
import { type Box, boxOf, holds, type View } from "./world";

/** At least so long between two reads; and four times as long as the last one took. */
const PAUSE_MS = 2_000;
/** A view that has left what was asked for is asked for when it has rested so long. */
const REST_MS = 250;
/** Of a table with more rows than these only what is in view is asked for. */
const WHOLE_MAX = 20_000;
/** A view is asked for with so much around it, as a share of its own width and height. */
const MARGIN = 0.5;

/** What of the world somebody looks at, and how large the picture is. */
export interface Sight {
  view: View;
  width: number;
  height: number;
}

/** What is in view, and so much around it. */
export const around = ({ view, width, height }: Sight, margin: number): Box =>
  boxOf(view, width * (1 + 2 * margin), height * (1 + 2 * margin));

/** The latest rows. One row for each key can be asked for by place; of a history the latest row in a
 * box would be none of now. */
export function useFleet(layer: Layer, sight: Sight | null): { fleet: Fleet | null; failure: string } {
  const [fleet, setFleet] = useState<Fleet | null>(null);
  const [failure, setFailure] = useState("");
  const now = useRef<Sight | null>(sight);
  const asked = useRef<Box | null>(null);
  const again = useRef<() => void>(() => {});
  now.current = sight;
  useEffect(() => {
    setFleet(null);
    asked.current = null;
    const ended = new AbortController();
    let [timer, isLarge, isReading] = [0, false, false];
    const read = async () => {
      isReading = true;
      const started = performance.now();
      try {
        if (!document.hidden) {
          const box = isLarge && now.current ? around(now.current, MARGIN) : null;
          const found = await loadFleet(layer, box, ended.signal);
          asked.current = box;
          isLarge ||= layer.rest.length === 0 && (found.more || found.rows.length > WHOLE_MAX);
          setFleet(found);
        }
        setFailure("");
      } catch (error) {
        if (!ended.signal.aborted) setFailure(said(error));
      }
      isReading = false;
      wait(Math.max(PAUSE_MS, 4 * (performance.now() - started)));
    };
    const wait = (ms: number) => {
      clearTimeout(timer);
      if (!ended.signal.aborted) timer = window.setTimeout(() => void read(), ms);
    };
    again.current = () => void (isLarge && !isReading && wait(REST_MS));
    void read();
    return () => {
      ended.abort();
      clearTimeout(timer);
    };
  }, [layer.table.path]);
  useEffect(() => {
    if (sight && asked.current && !holds(asked.current, around(sight, 0))) again.current();
  }, [sight?.view, sight?.width, sight?.height]);
  return { fleet, failure };
}
