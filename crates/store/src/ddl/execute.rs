//! Executes DDL statements.

use std::fmt::{self, Display, Formatter};
use std::time::{Duration, Instant};

use tonnage_engine::{Deadline, Error, Result};

use super::{Statement, parse};
use crate::catalog::TableEntry;
use crate::index::{CreateIndexOptions, create_index, drop_index};
use crate::inner::Inner;

/// No time at all is not asked for: it is refused as a mistake.
const TIMEOUT_MIN: Duration = Duration::from_nanos(1);

/// What a statement did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DdlOutcome {
    /// Whether the table was created; false when it existed and that was allowed.
    Created {
        /// Its path.
        table: String,
        /// Whether it was created now.
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
    /// Whether the index was created; false when it existed and that was allowed.
    CreatedIndex {
        /// Its name.
        index: String,
        /// The path of its table.
        table: String,
        /// Whether it was created now.
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
    /// What a statement of `tonnage-sql` did, in words.
    Message(String),
}

/// In words; a list has a line for each.
impl Display for DdlOutcome {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        // The program prints these words. The transcripts in docs/tour.md show them, and a test
        // compares.
        match self {
            DdlOutcome::Created { table, new: true } => write!(f, "created table {table}"),
            DdlOutcome::Created { table, new: false } => {
                write!(f, "table {table} was there already")
            }
            DdlOutcome::Dropped { table, existed: true } => write!(f, "dropped table {table}"),
            DdlOutcome::Dropped { table, existed: false } => {
                write!(f, "there was no table {table}")
            }
            DdlOutcome::Altered { table } => write!(f, "altered table {table}"),
            DdlOutcome::CreatedIndex { index, table, new: true } => {
                write!(f, "created index {index} on {table}")
            }
            DdlOutcome::CreatedIndex { index, table, new: false } => {
                write!(f, "index {index} on {table} was there already")
            }
            DdlOutcome::DroppedIndex { index, table, existed: true } => {
                write!(f, "dropped index {index} on {table}")
            }
            DdlOutcome::DroppedIndex { index, table, existed: false } => {
                write!(f, "there was no index {index} on {table}")
            }
            DdlOutcome::Tables(tables) => f.write_str(&tables.join("\n")),
            // `describe` leaves its last statement open. Closed, all can be carried out as it is.
            DdlOutcome::Description(ddl) => write!(f, "{ddl};"),
            DdlOutcome::Message(words) => f.write_str(words),
        }
    }
}

impl DdlOutcome {
    /// Whether it is more than an answer to a question.
    fn is_change(&self) -> bool {
        !matches!(self, DdlOutcome::Tables(_) | DdlOutcome::Description(_))
    }
}

/// Carries out statements one after another, up to the first that fails.
pub(crate) fn execute(store: &Inner, sql: &str, deadline: Deadline) -> Result<Vec<DdlOutcome>> {
    let execute = |statement| {
        deadline.check("the statements before")?;
        let outcome = execute_one(store, statement, deadline)?;
        if outcome.is_change() {
            tracing::info!(?outcome, "definition carried out");
        }
        Ok(outcome)
    };
    parse(sql)?.into_iter().map(execute).collect()
}

fn execute_one(store: &Inner, statement: Statement, deadline: Deadline) -> Result<DdlOutcome> {
    let catalog = &store.catalog;
    Ok(match statement {
        Statement::CreateTable { definition, if_not_exists } => {
            let (entry, new) = catalog.create_table_by(&definition, if_not_exists, deadline)?;
            DdlOutcome::Created { table: entry.schema.path.clone(), new }
        }
        Statement::DropTable { path, if_exists } => {
            let existed = catalog.drop_table_by(&path, if_exists, deadline)?;
            DdlOutcome::Dropped { table: path, existed }
        }
        Statement::AlterTable { path, changes } => {
            let altered = catalog.alter_table_by(&path, &changes, deadline)?;
            DdlOutcome::Altered { table: altered.schema.path.clone() }
        }
        Statement::CreateIndex { definition, if_not_exists } => {
            // The options take a duration, and refuse one of zero.
            let left =
                |end: Instant| end.saturating_duration_since(Instant::now()).max(TIMEOUT_MIN);
            let timeout = deadline.moment().map(left);
            let options =
                CreateIndexOptions { if_not_exists, timeout, ..CreateIndexOptions::default() };
            let new = create_index(store, &definition, &options)?;
            DdlOutcome::CreatedIndex { index: definition.name, table: definition.table, new }
        }
        Statement::DropIndex { name, table, if_exists } => {
            let table = match table {
                Some(table) => table,
                // PostgreSQL names no table after DROP INDEX, so the table of the index is looked
                // up.
                None => match catalog.table_of_index(&name)? {
                    Some(table) => table,
                    None if if_exists => {
                        return Ok(DdlOutcome::DroppedIndex {
                            index: name,
                            table: "any table".into(),
                            existed: false,
                        });
                    }
                    None => {
                        return Err(Error::not_found(format!("there is no index {name}")));
                    }
                },
            };
            let existed = drop_index(store, &table, &name, if_exists, deadline)?;
            DdlOutcome::DroppedIndex { index: name, table, existed }
        }
        Statement::ShowTables => DdlOutcome::Tables(
            catalog.tables().iter().map(|entry| entry.schema.path.clone()).collect(),
        ),
        Statement::DescribeTable { path } => {
            DdlOutcome::Description(describe(&*catalog.table(&path)?))
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
