// Numbers as people read them.

export const whole = (value: number): string => Math.round(value).toLocaleString("en");

/** Three digits and a unit of thousands. */
export function short(value: number): string {
  const size = Math.abs(value);
  for (const [unit, letter] of [[1e9, "G"], [1e6, "M"], [1e4, "k"]] as const) {
    if (size >= unit) return `${digits(value / (letter === "k" ? 1e3 : unit))} ${letter}`;
  }
  return size >= 100 || Number.isInteger(value) ? whole(value) : digits(value);
}

const digits = (value: number): string => {
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
};

export function bytes(value: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  while (Math.abs(value) >= 1024 && at < units.length - 1) {
    value /= 1024;
    at += 1;
  }
  return `${at === 0 ? whole(value) : digits(value)} ${units[at]!}`;
}

export function seconds(value: number): string {
  if (value < 1e-3) return `${digits(value * 1e6)} µs`;
  if (value < 1) return `${digits(value * 1e3)} ms`;
  if (value < 120) return `${digits(value)} s`;
  const minutes = Math.floor(value / 60);
  if (minutes < 120) return `${minutes} min ${Math.round(value % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
