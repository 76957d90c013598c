//! DDL statements carried out.

use tonnage_engine::Result;

use super::{Statement, parse};
use crate::catalog::Catalog;

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
    /// The paths of all tables.
    Tables(Vec<String>),
    /// A table, as the statement that makes it.
    Description(String),
}

/// Carries out statements one after another, up to the first that fails.
pub(crate) fn execute(catalog: &Catalog, sql: &str) -> Result<Vec<Outcome>> {
    parse(sql)?.into_iter().map(|statement| execute_one(catalog, statement)).collect()
}

fn execute_one(catalog: &Catalog, statement: Statement) -> Result<Outcome> {
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
        Statement::ShowTables => Outcome::Tables(catalog.tables().iter().map(|entry| entry.schema.path.clone()).collect()),
        Statement::DescribeTable { path } => Outcome::Description(catalog.table(&path)?.schema.to_ddl()),
    })
}
