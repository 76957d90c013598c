//! The options of a bulk put.

use std::sync::Arc;
use std::time::Duration;

use tonnage_engine::{Acks, Capability, Durability, Error, OnExisting, Result};

use super::{BulkPutCallbacks, NoCallbacks, Progress};
use crate::cancel::Cancel;
use crate::levels::check_acks;

/// How many entries may fail before a bulk put stops.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ErrorsMax {
    /// Any number; they are in the report.
    #[default]
    Unlimited,
    /// The load stops when more than this many entries have failed.
    Count(u64),
    /// The load stops when more than this share of the entries read has failed, in percent. Judged
    /// from the thousandth entry on, and at the end.
    Percent(f64),
}

impl ErrorsMax {
    /// Entries that must be read before a share means anything.
    const SHARE_FROM_ENTRIES: u64 = 1_000;

    /// Whether so many failed entries of those that were read are too many. A share of few entries
    /// means something only when they are all.
    pub fn is_exceeded(self, failed: u64, read: u64, at_end: bool) -> bool {
        match self {
            ErrorsMax::Unlimited => false,
            ErrorsMax::Count(limit) => failed > limit,
            ErrorsMax::Percent(limit) => {
                (at_end || read >= Self::SHARE_FROM_ENTRIES)
                    && failed as f64 * 100.0 > limit * read as f64
            }
        }
    }
}

impl std::fmt::Display for ErrorsMax {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ErrorsMax::Unlimited => f.write_str("unlimited"),
            ErrorsMax::Count(limit) => write!(f, "{limit}"),
            ErrorsMax::Percent(limit) => write!(f, "{limit}%"),
        }
    }
}

/// How often a load flushes at least. Seldom enough that a load at full speed writes large files.
const FLUSH_INTERVAL: Duration = Duration::from_secs(60);

/// Entries that go to the engine at once, however small they are.
const SLICE_ROWS_MAX: usize = 65_536;

/// How to put in bulk. The defaults are good without tuning.
#[derive(Clone)]
pub struct BulkPutOptions {
    /// How many streams are read side by side (1 to 1,024), each by a thread of its own. Default:
    /// the number of cores, or of streams if there are fewer. What they bring is encoded by as many
    /// threads, but no more than there are cores.
    pub stream_parallelism: Option<usize>,
    /// How many threads sort and write, in all (1 to 1,024). Default: the number of cores.
    pub per_shard_parallelism: Option<usize>,
    /// The memory that entries and write buffers may take (1 MiB or more). Default: an eighth of
    /// the machine's memory, at least 256 MiB and at most 4 GiB. What streams hold themselves comes
    /// on top: the batch that each has given last.
    pub memory_bytes_max: Option<usize>,
    /// About how many bytes are handed to the engine at once (4 KiB to 64 MiB).
    pub request_bytes_max: usize,
    /// When an entry counts as stored.
    pub durability: Durability,
    /// How many copies must have it by then; as the store was opened without it.
    pub acks: Option<Acks>,
    /// The longest that the load may take; what was read by then is stored, and the error says that
    /// time ran out. It holds whatever streams do: see [`super::EntryStream::next_batch`].
    pub timeout: Option<Duration>,
    /// The longest that the load may wait for the store, each time: for memory while it pushes, or
    /// for a flush to store what was pushed. Then it ends with `TimedOut`. What was reported as
    /// stored is stored; of the rest any part may be, and none of it is acknowledged. With
    /// `timeout` it bounds the whole call.
    pub flush_timeout: Option<Duration>,
    /// What happens to entries whose key exists.
    pub on_existing: OnExisting,
    /// How many entries may fail.
    pub errors_max: ErrorsMax,
    /// At most this many rows a second.
    pub rows_per_second_max: Option<u64>,
    /// At most this many bytes of keys and values a second.
    pub bytes_per_second_max: Option<u64>,
    /// Entries become durable, and ended streams complete, when this many bytes are pending, even
    /// though other streams still run (1 MiB or more). Larger is faster.
    pub flush_bytes_max: u64,
    /// What was pushed becomes durable, and ended streams complete, at least this often. A stream
    /// that has ended while the others wait completes at once.
    pub flush_interval: Option<Duration>,
    /// Receives existing keys, failures and completed streams.
    pub callbacks: Arc<dyn BulkPutCallbacks>,
    /// Shows the counts while the load runs. A progress watches one load only: options with one
    /// serve once, options without one as often as you like.
    pub progress: Option<Progress>,
    /// Stops the load from outside. It stays cancelled: give options that are used again a fresh
    /// one.
    pub cancel: Cancel,
}

impl Default for BulkPutOptions {
    fn default() -> Self {
        Self {
            stream_parallelism: None,
            per_shard_parallelism: None,
            memory_bytes_max: None,
            request_bytes_max: 4 << 20,
            durability: Durability::Write,
            acks: None,
            timeout: None,
            flush_timeout: None,
            on_existing: OnExisting::Keep,
            errors_max: ErrorsMax::Unlimited,
            rows_per_second_max: None,
            bytes_per_second_max: None,
            flush_bytes_max: 16 << 30,
            flush_interval: Some(FLUSH_INTERVAL),
            callbacks: Arc::new(NoCallbacks),
            progress: None,
            cancel: Cancel::default(),
        }
    }
}

impl BulkPutOptions {
    /// Refuses settings out of their range, each by name and with its limits.
    pub(crate) fn check(&self, capability: &Capability) -> Result<()> {
        // Those left out are checked by a value that always passes: their defaults depend on the
        // machine.
        within("stream_parallelism", self.stream_parallelism.unwrap_or(1) as u64, 1, 1_024)?;
        within("per_shard_parallelism", self.per_shard_parallelism.unwrap_or(1) as u64, 1, 1_024)?;
        within("memory_bytes_max", self.memory_bytes() as u64, 1 << 20, 1 << 50)?;
        within("request_bytes_max", self.request_bytes_max as u64, 4 << 10, 64 << 20)?;
        within("flush_bytes_max", self.flush_bytes_max, 1 << 20, u64::MAX)?;
        within("rows_per_second_max", self.rows_per_second_max.unwrap_or(1), 1, u64::MAX)?;
        within("bytes_per_second_max", self.bytes_per_second_max.unwrap_or(1), 1, u64::MAX)?;
        // `None` is without a limit. A zero would end every load at once, or flush it without a
        // pause.
        for (name, time) in [
            ("timeout", self.timeout),
            ("flush_timeout", self.flush_timeout),
            ("flush_interval", self.flush_interval),
        ] {
            if time.is_some_and(|time| time.is_zero()) {
                return Err(Error::invalid(format!("{name} is 0: give a longer one, or none")));
            }
        }
        check_acks(self.acks, self.durability, capability)?;
        match self.errors_max {
            ErrorsMax::Percent(percent) if !(0.0..=100.0).contains(&percent) => Err(
                Error::invalid(format!("errors_max is {percent}%: it must be between 0% and 100%")),
            ),
            _ => Ok(()),
        }
    }

    /// The bytes that go to the engine at once: where a rate is set, no more than a tenth of a
    /// second's worth.
    pub(super) fn slice_bytes_max(&self) -> usize {
        let paced = self
            .bytes_per_second_max
            .map_or(usize::MAX, |bytes| usize::try_from(bytes / 10).unwrap_or(usize::MAX));
        self.request_bytes_max.min(paced.max(1))
    }

    /// The entries that go to the engine at once, likewise.
    pub(super) fn slice_rows_max(&self) -> usize {
        self.rows_per_second_max
            .map_or(SLICE_ROWS_MAX as u64, |rows| (rows / 10).clamp(1, SLICE_ROWS_MAX as u64))
            as usize
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.memory_bytes_max.unwrap_or_else(default_memory_bytes)
    }
}

fn within(name: &str, value: u64, least: u64, most: u64) -> Result<()> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Error::invalid(format!("{name} is {value}: it must be between {least} and {most}")))
}

/// An eighth of the machine's memory, between 256 MiB and 4 GiB.
fn default_memory_bytes() -> usize {
    (tonnage_engine::memory_bytes() / 8).clamp(256 << 20, 4 << 30)
}

impl std::fmt::Debug for BulkPutOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BulkPutOptions")
            .field("stream_parallelism", &self.stream_parallelism)
            .field("per_shard_parallelism", &self.per_shard_parallelism)
            .field("memory_bytes_max", &self.memory_bytes_max)
            .field("request_bytes_max", &self.request_bytes_max)
            .field("durability", &self.durability)
            .field("acks", &self.acks)
            .field("timeout", &self.timeout)
            .field("flush_timeout", &self.flush_timeout)
            .field("on_existing", &self.on_existing)
            .field("errors_max", &self.errors_max)
            .field("rows_per_second_max", &self.rows_per_second_max)
            .field("bytes_per_second_max", &self.bytes_per_second_max)
            .field("flush_bytes_max", &self.flush_bytes_max)
            .field("flush_interval", &self.flush_interval)
            .field("progress", &self.progress)
            .field("cancel", &self.cancel)
            .finish_non_exhaustive()
    }
}
