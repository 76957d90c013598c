//! A table of the store as SQL sees it.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use tonnage::{ColumnType, Index, Store, Table, TableSchema};

use crate::statistics::TableStatistics;

/// Under this key a field keeps the name that its column was declared with.
const DECLARED: &str = "tonnage:declared";
/// The column of row versions, for statements that change rows.
pub(crate) const VERSION: &str = "_version";
/// The column of when rows expire, likewise.
pub(crate) const EXPIRY: &str = "_expires_at_ms";

/// A table with its columns under the names that SQL finds them by: in lower case, for SQL folds
/// names that way.
#[derive(Clone)]
pub(crate) struct SqlTable {
    pub(crate) table: Table,
    pub(crate) arrow: SchemaRef,
    /// About how many rows there may be at most.
    pub(crate) rows_estimate: Option<u64>,
    /// What ANALYZE found of it, which may be out of date.
    pub(crate) statistics: Option<Arc<TableStatistics>>,
    /// Whether a scan of everything comes in key order.
    pub(crate) total_order: bool,
    /// The secondary indexes. Whatever keeps this asks for the table again once they change.
    pub(crate) indexes: Vec<Index>,
    /// Columns that the statement writes while it reads.
    pub(crate) written: Vec<usize>,
}

impl SqlTable {
    pub(crate) fn new(store: &Store, table: Table) -> Self {
        let capability = store.engine().capability();
        let total_order = capability.total_order && capability.shards == 1;
        let fields: Vec<Field> =
            table.schema().columns.iter().map(|column| folded_field(column.to_arrow())).collect();
        // A table that was dropped just now has none.
        let mut indexes = table.indexes().unwrap_or_default();
        // No condition of SQL is on one element of several.
        indexes.retain(|index| !index.has_parts());
        let written = Vec::new();
        Self {
            table,
            arrow: Arc::new(Schema::new(fields)),
            rows_estimate: None,
            statistics: None,
            total_order,
            indexes,
            written,
        }
    }

    /// The same with an estimate of its size.
    pub(crate) fn with_estimate(mut self) -> Self {
        self.rows_estimate = self.table.rows_estimate().ok();
        self
    }

    /// The same with what ANALYZE found of it.
    pub(crate) fn with_statistics(mut self, statistics: Option<Arc<TableStatistics>>) -> Self {
        self.statistics = statistics;
        self
    }

    /// About how many rows there are, without those of its relatives if ANALYZE counted them.
    pub(crate) fn own_rows_estimate(&self) -> Option<u64> {
        match &self.statistics {
            Some(statistics) => Some(statistics.rows_now(self.rows_estimate)),
            None => self.rows_estimate,
        }
    }

    /// The same with the version and the expiry of each row as last columns, for a statement that
    /// writes some columns.
    pub(crate) fn with_versions(mut self, written: &[usize]) -> Self {
        self.written = written.to_vec();
        let mut fields: Vec<_> = self.arrow.fields().iter().cloned().collect();
        let notes = note_names(self.table.schema());
        fields.extend(notes.map(|name| Arc::new(Field::new(name, DataType::UInt64, false))));
        self.arrow = Arc::new(Schema::new(fields));
        self
    }

    /// The same for rows that may lack what the store fills in.
    pub(crate) fn with_nullable_columns(mut self) -> Self {
        let fields = self.arrow.fields().iter();
        let fields = fields.map(|field| field.as_ref().clone().with_nullable(true));
        let fields: Vec<Field> = fields.collect();
        self.arrow = Arc::new(Schema::new(fields));
        self
    }

    /// The same, to be read without indexes.
    pub(crate) fn without_indexes(mut self) -> Self {
        self.indexes.clear();
        self
    }

    pub(crate) fn schema(&self) -> &Arc<TableSchema> {
        self.table.schema()
    }
}

impl std::fmt::Debug for SqlTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.table.path())
    }
}

/// What the columns of the version and the expiry are called beside those of a table, which may
/// have such names itself.
pub(crate) fn note_names(schema: &TableSchema) -> [String; 2] {
    [VERSION, EXPIRY].map(|name| {
        let mut name = name.to_owned();
        while schema.column_index(&name).is_some() {
            name.insert(0, '_');
        }
        name
    })
}

/// A field under the name that SQL finds it by.
pub(crate) fn folded_field(field: Field) -> Field {
    let name = field.name().to_ascii_lowercase();
    if name == *field.name() {
        return field;
    }
    let mut metadata: HashMap<String, String> = field.metadata().clone();
    metadata.insert(DECLARED.to_owned(), field.name().clone());
    field.with_name(name).with_metadata(metadata)
}

/// The schema of a result under the names that columns were declared with. What expressions make of
/// UUIDs is marked as such: without a mark clients take 16 bytes for bytes.
pub(crate) fn declared_schema(schema: &SchemaRef) -> SchemaRef {
    let is_as_declared =
        |field: &FieldRef| !field.metadata().contains_key(DECLARED) && !is_unmarked_uuid(field);
    if schema.fields().iter().all(is_as_declared) {
        return schema.clone();
    }
    Arc::new(Schema::new(
        schema.fields().iter().map(|field| declared_field(field)).collect::<Vec<_>>(),
    ))
}

fn declared_field(field: &Field) -> Field {
    let mut metadata = field.metadata().clone();
    if is_unmarked_uuid(field) {
        metadata.extend(ColumnType::Uuid.to_arrow("", true).metadata().clone());
    }
    match metadata.remove(DECLARED) {
        // Under another name the column was given an alias.
        Some(name) if name.eq_ignore_ascii_case(field.name()) => {
            field.clone().with_name(name).with_metadata(metadata)
        }
        _ => field.clone().with_metadata(metadata),
    }
}

/// Whether a column of UUIDs has lost what says so: most expressions keep the type alone.
fn is_unmarked_uuid(field: &Field) -> bool {
    field.extension_type_name().is_none() && ColumnType::of_arrow(field) == Some(ColumnType::Uuid)
}
