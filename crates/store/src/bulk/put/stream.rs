//! The streams that a bulk put reads its entries from.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::RecordBatch;
use tonnage_engine::{Error, Result};

use crate::kv::Pairs;
use crate::row::Row;
use crate::value::Value;

/// One source of entries. Entries of one stream keep their order; streams run side by side.
pub trait EntryStream: Send {
    /// A name for reports and errors, such as a file name.
    fn name(&self) -> String {
        String::new()
    }

    /// The next entries, or `None` at the end, after which it is not asked again. An error stops
    /// the load. It is asked again only when what it gave before is with the load.
    ///
    /// It may wait as long as it likes: a thread of its own waits with it. When the load stops
    /// meanwhile (a time-out, a cancel, an error elsewhere), the load waits a quarter of a second
    /// for it to come back and then returns without it. The thread stays until the call returns;
    /// then the batch that it brings is dropped, and the stream with it. Such a thread holds
    /// nothing of the store. A stream that never returns costs its thread until the process ends:
    /// give sources time-outs of their own.
    fn next_batch(&mut self) -> Result<Option<EntryBatch>>;
}

/// Consecutive entries of one stream, all for one table or all key/value pairs.
#[derive(Clone, Debug)]
pub struct EntryBatch {
    /// What to store.
    pub payload: Payload,
    /// How long the rows live from now on: zero is for ever, and without it the table's own time to
    /// live holds.
    pub ttl: Option<Duration>,
    /// The same for each entry of the payload by itself: zero is for ever. An entry without one
    /// lives as `ttl` says.
    pub ttls: Option<Vec<Option<Duration>>>,
    /// The position in the stream of each entry of the payload: they ascend, and come after all
    /// before. Without it they follow what came before.
    pub positions: Option<Vec<u64>>,
    /// Entries that the source itself could not read: they are reported as failed.
    pub unread: Vec<UnreadEntry>,
    /// Set for rows that SQL computed, column by column: their values are rounded to what their
    /// columns keep. In other batches a row fails when a column would round one of its values.
    pub is_computed: bool,
}

/// What a batch brings.
#[derive(Clone, Debug)]
pub enum Payload {
    /// Rows of a table, column by column: the fast way. Columns are matched by name.
    Batch {
        /// The table's path.
        table: Arc<str>,
        /// Its rows.
        rows: RecordBatch,
    },
    /// Rows of a table, one by one.
    Rows {
        /// The table's path.
        table: Arc<str>,
        /// Its rows.
        rows: Vec<Row>,
    },
    /// Key/value pairs.
    Pairs(Pairs),
}

impl Payload {
    /// How many entries there are.
    pub fn len(&self) -> usize {
        match self {
            Payload::Batch { rows, .. } => rows.num_rows(),
            Payload::Rows { rows, .. } => rows.len(),
            Payload::Pairs(pairs) => pairs.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// An entry that its source could not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadEntry {
    /// Its position in the stream, from 0.
    pub position: u64,
    /// The column at fault, when it is known.
    pub column: Option<String>,
    /// What is wrong with it.
    pub reason: String,
}

impl EntryBatch {
    /// Rows of a table, column by column.
    pub fn rows(table: impl Into<Arc<str>>, rows: RecordBatch) -> Self {
        Payload::Batch { table: table.into(), rows }.into()
    }

    /// Key/value pairs.
    pub fn pairs(pairs: Pairs) -> Self {
        Payload::Pairs(pairs).into()
    }

    /// The same batch with a time to live for each of its entries: zero is for ever, and an entry
    /// without one lives as [`EntryBatch::ttl`] says, or else as its table does.
    #[must_use]
    pub fn with_ttls(self, ttls: impl IntoIterator<Item = Option<Duration>>) -> Self {
        Self { ttls: Some(ttls.into_iter().collect()), ..self }
    }
}

impl EntryBatch {
    /// Refuses what does not go with the entries.
    ///
    /// # Errors
    /// `Invalid` when there is a time to live for more or fewer entries than there are.
    pub(super) fn check(&self) -> Result<()> {
        let entries = self.payload.len();
        match &self.ttls {
            Some(ttls) if ttls.len() != entries => Err(Error::invalid(format!(
                "a batch of {entries} entries comes with {} times to live: give each entry one, or none",
                ttls.len()
            ))),
            _ => Ok(()),
        }
    }

    /// The position that follows the batch in a stream whose next position is `first`.
    ///
    /// # Errors
    /// `Invalid` for positions that do not ascend: which of two entries with one key is the later
    /// one hangs on them. `Invalid` as [`EntryBatch::check`] tells it.
    pub(super) fn end(&self, first: u64) -> Result<u64> {
        self.check()?;
        let entries = self.payload.len() as u64;
        let last_unread = self.unread.iter().map(|entry| entry.position + 1).max().unwrap_or(0);
        let Some(positions) = &self.positions else {
            return Ok((first + entries).max(last_unread));
        };
        if positions.len() as u64 != entries {
            return Err(Error::invalid(format!(
                "a batch of {entries} entries comes with {} positions",
                positions.len()
            )));
        }
        let ascends = positions.first().is_none_or(|position| *position >= first)
            && positions.is_sorted_by(|one, two| one < two);
        if !ascends {
            return Err(Error::invalid(format!(
                "the positions of a batch do not ascend, or do not come after position {first}, up to which the stream was read"
            )));
        }
        Ok(positions.last().map_or(first, |last| last + 1).max(last_unread))
    }

    /// About how much memory the batch takes.
    pub(super) fn memory_bytes(&self) -> usize {
        const CELL_BYTES: usize = 64;
        let row = |row: &Row| {
            row.iter()
                .map(|(name, value)| CELL_BYTES + name.len() + text_bytes(value))
                .sum::<usize>()
        };
        let ttls = self.ttls.as_ref().map_or(0, |ttls| size_of_val(&ttls[..]));
        CELL_BYTES
            + ttls
            + match &self.payload {
                Payload::Batch { rows, .. } => bytes_of(rows),
                Payload::Rows { rows, .. } => rows.iter().map(row).sum(),
                Payload::Pairs(pairs) => pairs.bytes(),
            }
    }
}

/// The memory that a value takes beside itself.
fn text_bytes(value: &Value) -> usize {
    let part = |value: &Value| size_of::<Value>() + text_bytes(value);
    match value {
        Value::String(text) | Value::Json(text) => text.len(),
        Value::Binary(bytes) => bytes.len(),
        Value::Array(items) => items.iter().map(part).sum(),
        Value::Map(members) | Value::Record(members) => members
            .iter()
            .map(|(name, member)| size_of::<String>() + name.len() + part(member))
            .sum(),
        _ => 0,
    }
}

/// The bytes of the cells of a record batch. Of dictionaries those of the cells, not of the values
/// that they share.
pub(super) fn bytes_of(rows: &RecordBatch) -> usize {
    rows.columns().iter().map(|column| column.to_data().get_slice_memory_size().unwrap_or(0)).sum()
}

impl From<Payload> for EntryBatch {
    fn from(payload: Payload) -> Self {
        Self {
            payload,
            ttl: None,
            ttls: None,
            positions: None,
            unread: Vec::new(),
            is_computed: false,
        }
    }
}

/// A stream over an iterator of batches.
struct IteratorStream<I> {
    name: String,
    batches: I,
}

impl<I: Iterator<Item = Result<EntryBatch>> + Send> EntryStream for IteratorStream<I> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn next_batch(&mut self) -> Result<Option<EntryBatch>> {
        self.batches.next().transpose()
    }
}

/// A stream of record batches for one table.
pub fn record_batch_stream<I>(
    name: impl Into<String>,
    table: impl Into<Arc<str>>,
    batches: I,
) -> Box<dyn EntryStream>
where
    I: IntoIterator<Item = Result<RecordBatch>>,
    I::IntoIter: Send + 'static,
{
    let table = table.into();
    let batches = batches.into_iter().map(move |batch| Ok(EntryBatch::rows(table.clone(), batch?)));
    Box::new(IteratorStream { name: name.into(), batches })
}

/// A stream of record batches whose values were computed: they are rounded to what their columns
/// keep.
pub fn computed_batch_stream<I>(
    name: impl Into<String>,
    table: impl Into<Arc<str>>,
    batches: I,
) -> Box<dyn EntryStream>
where
    I: IntoIterator<Item = Result<RecordBatch>>,
    I::IntoIter: Send + 'static,
{
    let table = table.into();
    let computed =
        move |rows| EntryBatch { is_computed: true, ..EntryBatch::rows(table.clone(), rows) };
    let batches = batches.into_iter().map(move |rows| rows.map(&computed));
    Box::new(IteratorStream { name: name.into(), batches })
}

/// A stream of single rows, each with the path of its table: tables may alternate, parents and
/// children mix.
pub fn row_stream<I>(name: impl Into<String>, rows: I) -> Box<dyn EntryStream>
where
    I: IntoIterator<Item = Result<(Arc<str>, Row)>>,
    I::IntoIter: Send + 'static,
{
    let rows = rows.into_iter().map(|row| row.map(|(table, row)| (table, row, None)));
    row_stream_with_ttls(name, rows)
}

/// A stream of single rows as [`row_stream`] makes it, each with its time to live: zero is for
/// ever, and a row without one lives as its table says.
///
/// ```
/// # fn main() -> tonnage::Result<()> {
/// use std::time::Duration;
///
/// use tonnage::{BulkPutOptions, Row, Store, row_stream_with_ttls};
///
/// let store = Store::open("memory:")?;
/// store.execute("CREATE TABLE ships (name STRING, PRIMARY KEY (name)) USING TTL 3 DAYS")?;
/// let ship = |name: &str, ttl| Ok(("ships".into(), Row::new().with("name", name), ttl));
/// let rows = [
///     ship("ARGO", None),
///     ship("PEQUOD", Some(Duration::from_secs(60))),
///     ship("FLYING DUTCHMAN", Some(Duration::ZERO)),
/// ];
/// store.bulk_put(vec![row_stream_with_ttls("fleet", rows)], &BulkPutOptions::default())?;
/// let dutchman = store.table("ships")?.get(&Row::new().with("name", "FLYING DUTCHMAN"))?;
/// assert_eq!(dutchman.map(|ship| ship.expires_at_ms), Some(0));
/// # Ok(())
/// # }
/// ```
pub fn row_stream_with_ttls<I>(name: impl Into<String>, rows: I) -> Box<dyn EntryStream>
where
    I: IntoIterator<Item = Result<(Arc<str>, Row, Option<Duration>)>>,
    I::IntoIter: Send + 'static,
{
    Box::new(IteratorStream {
        name: name.into(),
        batches: RowGroups { rows: rows.into_iter(), held: None, failed: None },
    })
}

/// A stream of key/value pairs.
pub fn pair_stream<I>(name: impl Into<String>, batches: I) -> Box<dyn EntryStream>
where
    I: IntoIterator<Item = Result<Pairs>>,
    I::IntoIter: Send + 'static,
{
    let batches = batches.into_iter().map(|pairs| Ok(EntryBatch::pairs(pairs?)));
    Box::new(IteratorStream { name: name.into(), batches })
}

/// Gathers neighbouring rows of one table into batches.
struct RowGroups<I> {
    rows: I,
    held: Option<(Arc<str>, Row, Option<Duration>)>,
    failed: Option<tonnage_engine::Error>,
}

impl<I> RowGroups<I> {
    const ROWS_MAX: usize = 1_024;
}

impl<I: Iterator<Item = Result<(Arc<str>, Row, Option<Duration>)>>> Iterator for RowGroups<I> {
    type Item = Result<EntryBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.failed.take() {
            return Some(Err(error));
        }
        let (table, first, ttl) = match self.held.take().map(Ok).or_else(|| self.rows.next())? {
            Ok(held) => held,
            Err(error) => return Some(Err(error)),
        };
        // A batch is of one table. What ends it, another table or an error, waits for the next
        // call, so that nothing overtakes these rows.
        let (mut rows, mut ttls) = (vec![first], vec![ttl]);
        while rows.len() < Self::ROWS_MAX {
            match self.rows.next() {
                Some(Ok((next_table, row, ttl))) if next_table == table => {
                    rows.push(row);
                    ttls.push(ttl);
                }
                Some(Ok(other)) => {
                    self.held = Some(other);
                    break;
                }
                Some(Err(error)) => {
                    self.failed = Some(error);
                    break;
                }
                None => break,
            }
        }
        // Where no row has a time to live the batch has none either: one expiry serves all of its
        // rows.
        let ttls = Some(ttls).filter(|ttls| ttls.iter().any(Option::is_some));
        Some(Ok(EntryBatch { ttls, ..Payload::Rows { table, rows }.into() }))
    }
}
