// Earlier statements, which this browser keeps for each user by themselves.

const MAX = 100;

const key = (user: string | null): string => (user === null ? "tonnage.history" : `tonnage.history.${user}`);

export function pastStatements(user: string | null): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key(user)) ?? "[]");
    return Array.isArray(kept) ? kept.filter((text) => typeof text === "string") : [];
  } catch {
    return [];
  }
}

/** Puts a statement before all others. */
export function remember(user: string | null, text: string): string[] {
  const kept = [text, ...pastStatements(user).filter((other) => other !== text)].slice(0, MAX);
  localStorage.setItem(key(user), JSON.stringify(kept));
  return kept;
}
