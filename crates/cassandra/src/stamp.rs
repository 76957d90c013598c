//! Time stamps of rows, and how they relate to versions.

/// The bits of a version below its microseconds.
pub(crate) const VERSION_STEP: u64 = 1 << 10;

/// A time stamp of Cassandra, in microseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp(pub(crate) i64);

impl Stamp {
    /// The stamp of a plain write of a version: later than those of all versions before it.
    pub(crate) fn of_version(version: u64) -> Self {
        Self((version / VERSION_STEP) as i64)
    }

    /// Whether it is that of a load or a deletion, not of a small write.
    pub(crate) fn is_chosen(self) -> bool {
        self.0.rem_euclid(1_000) >= 500
    }
}
