// Work that is done again and again, while its tab is seen.

/** Does it now, and so long after each end. What comes back ends it. */
export function whileSeen(pauseMs: number, work: (ended: AbortSignal) => Promise<void>): () => void {
  const ended = new AbortController();
  let timer = 0;
  const again = async (): Promise<void> => {
    if (!document.hidden) await work(ended.signal);
    if (!ended.signal.aborted) timer = window.setTimeout(() => void again(), pauseMs);
  };
  // Whoever comes back sees what is, not what was.
  const onSeen = (): void => {
    if (document.hidden) return;
    clearTimeout(timer);
    void again();
  };
  document.addEventListener("visibilitychange", onSeen);
  void again();
  return () => {
    ended.abort();
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", onSeen);
  };
}
