//! Which workloads run side by side: parts joined by `+`, such as `single+bulk+dirs`.

/// The parts there are.
const PARTS: [&str; 15] = [
    "single",     // two threads of single writes, conditional writes, deletes and atomic groups
    "bulk",       // bulk puts one after another, in all modes
    "small",      // ... of few rows each, so that they go through the log
    "push",       // batches pushed into loads that stay open, acknowledged by position
    "ddl",        // tables and indexes made, altered and dropped
    "pairs",      // key/value pairs with little durability, made durable by sync
    "rebuild",    // an index made and dropped again and again beside the rest
    "purge",      // groups of rows deleted by range
    "checkpoint", // checkpoints, which must open as stores
    "settle",     // settling at the end
    "soft",       // durability `write` instead of `fsync`
    "dirs",       // three data directories
    "crash",      // a crash came before: the run begins with recovery
    "reopen",     // the store is closed and opened again on the way
    "keep",       // bulk puts that keep existing rows come often
];

/// A workload by its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkloadKind(String);

impl WorkloadKind {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text.split('+').find(|part| !PARTS.contains(part)) {
            Some(part) => Err(format!("no part '{part}': there are {}", PARTS.join(" "))),
            None => Ok(Self(text.to_owned())),
        }
    }

    pub(crate) fn has(&self, part: &str) -> bool {
        debug_assert!(PARTS.contains(&part));
        self.0.split('+').any(|has| has == part)
    }

    pub(crate) fn name(&self) -> &str {
        &self.0
    }
}

/// Kinds for runs that are traced and cut.
pub(crate) const POWER: [&str; 16] = [
    "single+bulk+pairs",
    "bulk+small+soft+single",
    "ddl+single",
    "single+bulk+dirs+pairs",
    "bulk+rebuild+single",
    "single+push+pairs+purge",
    "crash+single+bulk+dirs",
    "single+ddl+checkpoint",
    "bulk+keep+pairs+single",
    "single+bulk+ddl+pairs+settle",
    "crash+bulk+rebuild+settle+small",
    "bulk+soft+keep+reopen+purge",
    "ddl+single+dirs+reopen",
    "crash+ddl+single+purge+pairs",
    "push+single+dirs+soft",
    "single+dirs+checkpoint+bulk+small",
];

/// Kinds for runs in which calls fail.
pub(crate) const FAULTS: [&str; 10] = [
    "single+bulk",
    "bulk+rebuild",
    "ddl+single",
    "single+pairs",
    "bulk+settle+single",
    "single+bulk+dirs",
    "single+ddl+checkpoint",
    "purge+single+pairs",
    "bulk+keep+single+reopen",
    "push+single",
];
