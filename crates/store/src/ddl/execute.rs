//! DDL statements carried out.

use tonnage_engine::Result;

use super::{Statement, parse};
use crate::catalog::TableEntry;
use crate::index::{CreateIndexOptions, create_index, drop_index};
use crate::inner::Inner;

/// What a statement did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A table was made; false when it was there already and that was allowed.
    Created {
        /// Its path.
        table: String,
        /// Whether it was made now.
        new: bool,
    },
    /// A table was dropped; false when there was none and that was allowed.
    Dropped {
        /// Its path.
        table: String,
        /// Whether there was one.
        existed: bool,
    },
    /// A table was changed.
    Altered {
        /// Its path.
        table: String,
    },
    /// An index was made; false when it was there already and that was allowed.
    CreatedIndex {
        /// Its name.
        index: String,
        /// The path of its table.
        table: String,
        /// Whether it was made now.
        new: bool,
    },
    /// An index was dropped; false when there was none and that was allowed.
    DroppedIndex {
        /// Its name.
        index: String,
        /// The path of its table.
        table: String,
        /// Whether there was one.
        existed: bool,
    },
    /// The paths of all tables.
    Tables(Vec<String>),
    /// A table, as the statements that make it and its indexes.
    Description(String),
}

/// Carries out statements one after another, up to the first that fails.
pub(crate) fn execute(store: &Inner, sql: &str) -> Result<Vec<Outcome>> {
    parse(sql)?.into_iter().map(|statement| execute_one(store, statement)).collect()
}

fn execute_one(store: &Inner, statement: Statement) -> Result<Outcome> {
    let catalog = &store.catalog;
    Ok(match statement {
        Statement::CreateTable { definition, if_not_exists } => {
            let (entry, new) = catalog.create_table(&definition, if_not_exists)?;
            Outcome::Created { table: entry.schema.path.clone(), new }
        }
        Statement::DropTable { path, if_exists } => {
            let existed = catalog.drop_table(&path, if_exists)?;
            Outcome::Dropped { table: path, existed }
        }
        Statement::AlterTable { path, changes } => {
            Outcome::Altered { table: catalog.alter_table(&path, &changes)?.schema.path.clone() }
        }
        Statement::CreateIndex { definition, if_not_exists } => {
            let options = CreateIndexOptions { if_not_exists, ..CreateIndexOptions::default() };
            let new = create_index(store, &definition, &options)?;
            Outcome::CreatedIndex { index: definition.name, table: definition.table, new }
        }
        Statement::DropIndex { name, table, if_exists } => {
            let existed = drop_index(store, &table, &name, if_exists)?;
            Outcome::DroppedIndex { index: name, table, existed }
        }
        Statement::ShowTables => Outcome::Tables(
            catalog.tables().iter().map(|entry| entry.schema.path.clone()).collect(),
        ),
        Statement::DescribeTable { path } => {
            Outcome::Description(describe(&*catalog.table(&path)?))
        }
    })
}

fn describe(table: &TableEntry) -> String {
    let path = &table.schema.path;
    let set = table.indexes.set();
    let indexes = set.indexes.iter().map(|index| match index.is_ready() {
        true => index.to_ddl(path),
        false => format!("-- not ready: carry this out again\n{}", index.to_ddl(path)),
    });
    std::iter::once(table.schema.to_ddl()).chain(indexes).collect::<Vec<_>>().join(";\n")
}
