//! A connection: lists the store's tables, and makes statements.

use std::collections::HashSet;
use std::sync::Arc;

use adbc_core::error::Result;
use adbc_core::options::{InfoCode, ObjectDepth, OptionConnection, OptionValue};
use adbc_core::{Connection, Optionable, schemas};
use arrow::array::{RecordBatch, StringArray};
use arrow::datatypes::Schema;
use tonnage_sql::Sql;

use super::error::{OrStatus, internal, invalid_state, not_found, not_offered};
use super::info::info;
use super::objects::{CATALOG, ObjectFilter, objects};
use super::options::{text, truth};
use super::reader::{BoxedReader, single_batch_reader};
use super::statement::TonnageStatement;

/// A connection.
pub(crate) struct TonnageConnection {
    sql: Sql,
}

impl TonnageConnection {
    pub(super) fn new(sql: Sql) -> Self {
        Self { sql }
    }
}

impl Optionable for TonnageConnection {
    type Option = OptionConnection;

    fn set_option(&mut self, name: OptionConnection, value: OptionValue) -> Result<()> {
        match name.as_ref() {
            "adbc.connection.autocommit" => match truth("autocommit", value)? {
                true => Ok(()),
                false => Err(not_offered(
                    "there are no transactions: each statement commits by itself (autocommit)",
                )),
            },
            "adbc.connection.catalog" if text("catalog", value)? == CATALOG => Ok(()),
            other => Err(not_offered(&format!("the connection has no option {other}"))),
        }
    }

    fn get_option_string(&self, name: OptionConnection) -> Result<String> {
        match name.as_ref() {
            "adbc.connection.autocommit" => Ok("true".to_owned()),
            "adbc.connection.catalog" => Ok(CATALOG.to_owned()),
            "adbc.connection.db_schema" => Ok("public".to_owned()),
            other => Err(not_found(format!("there is no option {other}"))),
        }
    }

    fn get_option_bytes(&self, name: OptionConnection) -> Result<Vec<u8>> {
        Err(not_found(format!("there is no option {} of bytes", name.as_ref())))
    }

    fn get_option_int(&self, name: OptionConnection) -> Result<i64> {
        Err(not_found(format!("there is no option {} of a number", name.as_ref())))
    }

    fn get_option_double(&self, name: OptionConnection) -> Result<f64> {
        Err(not_found(format!("there is no option {} of a number", name.as_ref())))
    }
}

impl Connection for TonnageConnection {
    type StatementType = TonnageStatement;

    fn new_statement(&mut self) -> Result<TonnageStatement> {
        Ok(TonnageStatement::new(self.sql.clone()))
    }

    fn get_info(&self, codes: Option<HashSet<InfoCode>>) -> Result<BoxedReader> {
        info(codes)
    }

    fn get_objects(
        &self,
        depth: ObjectDepth,
        catalog: Option<&str>,
        db_schema: Option<&str>,
        table_name: Option<&str>,
        table_type: Option<Vec<&str>>,
        column_name: Option<&str>,
    ) -> Result<BoxedReader> {
        let wanted =
            ObjectFilter { depth, catalog, db_schema, table_name, table_type, column_name };
        objects(self.sql.store(), &wanted)
    }

    fn get_table_schema(
        &self,
        catalog: Option<&str>,
        db_schema: Option<&str>,
        table_name: &str,
    ) -> Result<Schema> {
        let is_other = |name: Option<&str>, own: &str| name.is_some_and(|name| name != own);
        if is_other(catalog, CATALOG) || is_other(db_schema, "public") {
            return Err(not_found(format!("there is no table {table_name} there")));
        }
        let table = self.sql.store().table(table_name).or_status()?;
        Ok(table.schema().arrow_schema().as_ref().clone())
    }

    fn get_table_types(&self) -> Result<BoxedReader> {
        let types = Arc::new(StringArray::from(vec!["TABLE"]));
        RecordBatch::try_new(schemas::GET_TABLE_TYPES_SCHEMA.clone(), vec![types])
            .map(single_batch_reader)
            .map_err(|error| internal(&error))
    }

    fn get_statistic_names(&self) -> Result<BoxedReader> {
        Err(not_offered("there are no statistics of tables"))
    }

    fn get_statistics(
        &self,
        _: Option<&str>,
        _: Option<&str>,
        _: Option<&str>,
        _: bool,
    ) -> Result<BoxedReader> {
        Err(not_offered("there are no statistics of tables"))
    }

    fn commit(&mut self) -> Result<()> {
        Err(invalid_state("each statement has committed by itself (autocommit)"))
    }

    fn rollback(&mut self) -> Result<()> {
        Err(invalid_state("each statement has committed by itself (autocommit)"))
    }

    fn read_partition(&self, _: impl AsRef<[u8]>) -> Result<BoxedReader> {
        Err(not_offered("answers have no partitions"))
    }
}
