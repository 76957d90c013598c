//! Who is told how far a benchmark is.

/// Is told how far a benchmark is, and may stop it.
pub trait Watcher: Sync {
    /// A phase begins: what it is, and how many operations (or rows) it has, if that is known.
    fn begin(&self, phase: &str, total: Option<u64>);

    /// How many operations (or rows) of the phase are done, and how many a second lately. Called
    /// about once a second.
    fn at(&self, done: u64, per_second: f64);

    /// The phase has ended; a line that sums it up.
    fn end(&self, summary: &str);

    /// Whether the benchmark should stop at the next good moment, as after Ctrl-C. What was
    /// measured so far still counts.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Is told and says nothing.
pub struct NoWatcher;

impl Watcher for NoWatcher {
    fn begin(&self, _phase: &str, _total: Option<u64>) {}
    fn at(&self, _done: u64, _per_second: f64) {}
    fn end(&self, _summary: &str) {}
}
