//! The list of the indexes of a table, as writers see it now.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};

use arrow::array::{ArrayRef, RecordBatch};
use tonnage_engine::sync::{read, write};
use tonnage_engine::{Error, Result, Rows, SpaceId};

use super::clean_marks::CleanMarks;
use super::codec::IndexCodec;
use super::definition::{GeoCells, IndexState, ResolvedColumn, SourceColumn, StoredIndex};
use super::geo_cells;
use crate::codec::TableCodec;
use crate::schema::TableSchema;
use crate::schema::quoted_name;

/// An index that is open for use.
#[derive(Debug)]
pub(crate) struct OpenIndex {
    pub(crate) stored: StoredIndex,
    pub(crate) codec: IndexCodec,
}

impl OpenIndex {
    pub(crate) fn space(&self) -> SpaceId {
        self.stored.space()
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.stored.state == IndexState::Ready
    }

    /// The statement that makes the index.
    pub(crate) fn to_ddl(&self, table: &str) -> String {
        let columns: Vec<_> =
            self.codec.columns.iter().map(|column| column.shown.to_string()).collect();
        let table: Vec<_> = table.split('.').map(quoted_name).collect();
        format!(
            "CREATE INDEX {} ON {} ({})",
            quoted_name(&self.stored.name),
            table.join("."),
            columns.join(", ")
        )
    }

    /// The indexed columns of stored rows, which `table` can read.
    pub(crate) fn decode_columns(&self, table: &TableCodec, rows: &Rows) -> Result<Vec<ArrayRef>> {
        let place = |source: &SourceColumn| {
            let found = table.schema().columns.iter().position(|own| own.id == source.id);
            found.ok_or_else(|| {
                Error::internal(format!(
                    "index {} is on a column that was dropped",
                    self.stored.name
                ))
            })
        };
        let sources = self.codec.columns.iter().flat_map(ResolvedColumn::sources);
        let places = sources.map(place).collect::<Result<Vec<_>>>()?;
        let decoded = table.decode(rows, None, Some(&places))?;
        self.arrays_of(decoded.columns().iter().cloned().map(Ok))
    }

    /// The indexed columns of aligned rows of a table; the default of one that the schema of these
    /// rows is too old to know.
    pub(crate) fn pick_columns(
        &self,
        schema: &TableSchema,
        rows: &RecordBatch,
    ) -> Result<Vec<ArrayRef>> {
        let pick =
            |source: &SourceColumn| match schema.columns.iter().position(|own| own.id == source.id)
            {
                Some(index) => Ok(rows.column(index).clone()),
                None => source.default.to_array(source.column_type, rows.num_rows()),
            };
        self.arrays_of(self.codec.columns.iter().flat_map(ResolvedColumn::sources).map(pick))
    }

    /// The array of each indexed column, of those that they are made of, in their order.
    fn arrays_of(
        &self,
        mut sources: impl Iterator<Item = Result<ArrayRef>>,
    ) -> Result<Vec<ArrayRef>> {
        let mut next = || {
            let lacking = || Err(Error::internal("an index lacks a column of its table"));
            sources.next().unwrap_or_else(lacking)
        };
        let array = |column: &ResolvedColumn| match &column.shown.cells {
            Some(GeoCells { level, .. }) => geo_cells::encode(&next()?, &next()?, *level),
            None => next(),
        };
        self.codec.columns.iter().map(array).collect()
    }
}

/// All indexes of a table, with the table's newest codec, which reads every row that there is.
#[derive(Debug)]
pub(crate) struct IndexSet {
    pub(crate) table: Arc<TableCodec>,
    pub(crate) indexes: Vec<Arc<OpenIndex>>,
}

impl IndexSet {
    pub(crate) fn find(&self, name: &str) -> Option<&Arc<OpenIndex>> {
        self.indexes.iter().find(|index| index.stored.is_named(name))
    }
}

/// The indexes of one table.
///
/// All handles of a table share one list, whatever schema they keep to: a row that is written
/// through an old handle must not be missing in a new index.
#[derive(Debug)]
pub(crate) struct IndexList {
    /// Whether there are any, so that tables without indexes pay for one look.
    any: AtomicBool,
    /// Whether the table was dropped: it accepts no more writes.
    dropped: AtomicBool,
    set: RwLock<Arc<IndexSet>>,
    /// Which of them hold no stale entry.
    pub(crate) clean: CleanMarks,
}

impl IndexList {
    pub(crate) fn new(set: IndexSet) -> Self {
        let any = AtomicBool::new(!set.indexes.is_empty());
        let set = RwLock::new(Arc::new(set));
        Self { any, dropped: AtomicBool::new(false), set, clean: CleanMarks::default() }
    }

    /// Whether the table has indexes. Writers check this while they hold a pass of the store's
    /// gate.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.any.load(Ordering::SeqCst)
    }

    /// Notes that the table was dropped.
    pub(crate) fn drop_table(&self) {
        self.dropped.store(true, Ordering::SeqCst);
    }

    /// Whether the table was dropped. Writers check this while they hold a pass of the store's
    /// gate.
    #[inline]
    pub(crate) fn is_dropped(&self) -> bool {
        self.dropped.load(Ordering::SeqCst)
    }

    /// Refuses an index that was dropped, alone or with its table, or that is on its way there. Its
    /// space may be there for a while, but rows that are written meanwhile are missing in it.
    ///
    /// # Errors
    /// `NotFound` for one that is gone, `Unavailable` for one that is not ready.
    pub(crate) fn check_kept_up(&self, index: &OpenIndex) -> Result<()> {
        let set = self.set();
        let mut own = set.indexes.iter().filter(|own| own.space() == index.space());
        let (name, table) = (&index.stored.name, &set.table.schema().path);
        match own.next().filter(|_| !self.is_dropped()) {
            Some(own) if own.is_ready() => Ok(()),
            Some(_) => Err(not_ready(name, table)),
            None => Err(Error::not_found(format!(
                "index {name} on {table} was dropped: open it anew if there is one of that name again"
            ))
            .in_table(table)),
        }
    }

    pub(crate) fn set(&self) -> Arc<IndexSet> {
        read(&self.set).clone()
    }

    pub(crate) fn replace(&self, set: IndexSet) {
        let any = !set.indexes.is_empty();
        *write(&self.set) = Arc::new(set);
        self.any.store(any, Ordering::SeqCst);
    }
}

#[cold]
pub(crate) fn not_ready(name: &str, table: &str) -> Error {
    Error::unavailable(format!(
        "index {name} on {table} does not have every row yet, or is being dropped: wait until it is made; if its making was cut short, make it again"
    ))
}
