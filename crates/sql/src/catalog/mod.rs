//! The tables of the store as DataFusion looks them up.
//!
//! SQL has names such as `catalog.schema.table`, the store has paths such as `phones.images`. A
//! name of two or three parts is looked up as the path that it spells. A longer path becomes one
//! quoted name before the statement is parsed (`text/path.rs`): `"a.b.c.d"`.

mod conditions;
mod file;
mod geo_conditions;
mod information;
mod json_conditions;
mod overlay;
mod provider;

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider, CatalogProviderList, SchemaProvider, TableProvider};
use datafusion::common::{DataFusionError, Result};
use datafusion::datasource::MemTable;
use tonnage::{Error, ErrorKind, Store};

pub(crate) use conditions::condition_of;
pub(crate) use file::FileTable;
pub(crate) use geo_conditions::{PlaceDistance, distance_of, geo_condition_of};
pub use information::INFORMATION_SCHEMA;
pub(crate) use information::indexes;
pub(crate) use json_conditions::json_conditions_of;
pub(crate) use provider::{FirstRows, NearestWanted, StoreTable};

use crate::access::SqlTable;
use crate::errors::into_datafusion;
use crate::session::{SqlOptions, Transaction};
use crate::statistics::StatisticsCache;
use crate::text::{CATALOG, Cursor, FileName, SCHEMA};

/// What of the session a table must know.
#[derive(Clone)]
pub(crate) struct CatalogContext {
    pub(crate) store: Store,
    pub(crate) options: Arc<SqlOptions>,
    /// What ANALYZE found of tables.
    pub(crate) statistics: Arc<StatisticsCache>,
    /// The transaction that is open.
    pub(crate) transaction: Option<Arc<Transaction>>,
}

impl std::fmt::Debug for CatalogContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the store")
    }
}

impl CatalogContext {
    pub(crate) fn table(&self, path: &str) -> tonnage::Result<SqlTable> {
        Ok(SqlTable::new(&self.store, self.store.table(path)?))
    }
}

/// The table that a statement changes while it reads.
#[derive(Clone, Debug)]
pub(crate) enum WriteTarget {
    /// Rows of it are changed: it shows their versions.
    Changed { path: String, written: Vec<usize> },
    /// Rows are put in. Indexes would lead to them while they come.
    Filled { path: String },
}

impl WriteTarget {
    /// A table as the statement sees it.
    fn table_for(target: Option<&WriteTarget>, table: SqlTable) -> SqlTable {
        match target {
            Some(WriteTarget::Changed { path, written }) if path == table.table.path() => {
                table.with_versions(written)
            }
            Some(WriteTarget::Filled { path }) if path == table.table.path() => {
                table.without_indexes()
            }
            _ => table,
        }
    }
}

/// A node in the tree of names: a prefix of names.
#[derive(Clone, Debug)]
pub(crate) struct StoreCatalog {
    context: CatalogContext,
    prefix: Option<String>,
    target: Option<WriteTarget>,
    /// Rows of the statement's own, under a name that no table can have.
    given: Option<(String, Arc<MemTable>)>,
}

impl StoreCatalog {
    pub(crate) fn new(context: CatalogContext) -> Self {
        Self { context, prefix: None, target: None, given: None }
    }

    /// The same for a statement that changes a table, by what is stored last.
    pub(crate) fn for_write(context: CatalogContext, target: WriteTarget) -> Self {
        Self { context, prefix: None, target: Some(target), given: None }
    }

    /// The same with rows of the statement's own.
    pub(crate) fn with_rows(self, given: Option<(String, Arc<MemTable>)>) -> Self {
        Self { given, ..self }
    }

    fn child(&self, name: &str, default: &str) -> Arc<Self> {
        let prefix = child_prefix(self.prefix.as_deref(), name, default);
        Arc::new(Self { prefix, ..self.clone() })
    }

    fn path(&self, name: &str) -> String {
        child_path(self.prefix.as_deref(), name)
    }
}

/// The prefix of what is below a name; the names that mean "nothing given" add nothing.
fn child_prefix(prefix: Option<&str>, name: &str, default: &str) -> Option<String> {
    match prefix {
        None if name == default => None,
        prefix => Some(child_path(prefix, name)),
    }
}

fn child_path(prefix: Option<&str>, name: &str) -> String {
    prefix.map_or_else(|| name.to_owned(), |prefix| format!("{prefix}.{name}"))
}

/// The path of the table that a query reads under a name of these parts. By it the guard of a store
/// judges, so it resolves names like [`StoreCatalog`].
pub(crate) fn path_of_parts(parts: &[String]) -> String {
    let (catalog, schema, table) = match parts {
        [table] => (CATALOG, SCHEMA, table),
        [schema, table] => (CATALOG, schema.as_str(), table),
        [catalog, schema, table] => (catalog.as_str(), schema.as_str(), table),
        // Deeper ones are one name by now.
        _ => return parts.join("."),
    };
    let prefix = child_prefix(None, catalog, CATALOG);
    child_path(child_prefix(prefix.as_deref(), schema, SCHEMA).as_deref(), table)
}

/// Reads the path of the table that a query reads under the name at the cursor.
pub(crate) fn read_path(cursor: &mut Cursor) -> Option<String> {
    let parts: Vec<String> = cursor.parts()?.into_iter().map(str::to_ascii_lowercase).collect();
    Some(path_of_parts(&parts))
}

impl CatalogProviderList for StoreCatalog {
    fn register_catalog(
        &self,
        _: String,
        _: Arc<dyn CatalogProvider>,
    ) -> Option<Arc<dyn CatalogProvider>> {
        None
    }

    fn catalog_names(&self) -> Vec<String> {
        vec![CATALOG.to_owned()]
    }

    fn catalog(&self, name: &str) -> Option<Arc<dyn CatalogProvider>> {
        Some(self.child(name, CATALOG))
    }
}

impl CatalogProvider for StoreCatalog {
    fn schema_names(&self) -> Vec<String> {
        vec![SCHEMA.to_owned()]
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        Some(self.child(name, SCHEMA))
    }
}

#[async_trait]
impl SchemaProvider for StoreCatalog {
    fn table_names(&self) -> Vec<String> {
        self.context.store.tables().iter().map(|table| table.path().to_owned()).collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        if let Some((_, rows)) = self.given.as_ref().filter(|(given, _)| given == name) {
            return Ok(Some(rows.clone()));
        }
        if let Some(file) = FileName::parse(name).filter(|_| self.prefix.is_none()) {
            let file = FileTable::open(&file, &self.context.options).map_err(into_datafusion)?;
            return Ok(Some(Arc::new(file)));
        }
        match self.context.table(&self.path(name)) {
            Ok(table) => {
                let transaction = self.context.transaction.as_ref();
                let changed = transaction.and_then(|open| open.changed(&table.table));
                let statistics = self.context.statistics.look_up(&table.table);
                let table = table.with_estimate().with_statistics(statistics);
                let table = WriteTarget::table_for(self.target.as_ref(), table);
                let stored = StoreTable::new(table, self.context.options.clone());
                // What a statement changes it changes by what is stored last.
                let stored = match self.target {
                    Some(_) => stored.with_absolute_consistency(),
                    None if transaction.is_some() => stored,
                    None => stored.with_kept_columns(),
                };
                match changed {
                    Some(changed) => overlay::overlay_table(stored, &changed).map(Some),
                    None => Ok(Some(Arc::new(stored))),
                }
            }
            // It may be a function that gives rows. The planner knows; the store is asked again for
            // what is to be said.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let path = self.path(name);
                if path.to_ascii_lowercase().starts_with("pg_catalog.") {
                    return Err(into_datafusion(Error::not_found(format!(
                        "there is no table {path}; information_schema has tables, columns and statistics"
                    ))));
                }
                let told = information::table(&self.context.store, &path).transpose()?;
                Ok(told.map(|table| Arc::new(table) as Arc<dyn TableProvider>))
            }
            Err(error) => Err(into_datafusion(error)),
        }
    }

    fn table_exist(&self, name: &str) -> bool {
        let (store, path) = (&self.context.store, self.path(name));
        store.table(&path).is_ok() || information::table(store, &path).is_some()
    }
}
