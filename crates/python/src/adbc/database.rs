//! The driver, and the store that it opens.

use std::sync::Arc;

use adbc_core::error::Result;
use adbc_core::options::{OptionConnection, OptionDatabase, OptionValue};
use adbc_core::{Database, Driver, Optionable};
use tonnage::Store;
use tonnage_sql::Sql;

use super::connection::TonnageConnection;
use super::error::{OrStatus, invalid, not_found, of_store};
use super::options::{text, truth};
use super::shared;
use crate::handle::{before_open, sql_options};

/// The name of the option that names a store which the package has open.
const STORE: &str = "tonnage.store";
/// The name of the option that says whether a missing store is created.
const CREATE: &str = "tonnage.create";

/// The driver.
#[derive(Default)]
pub(crate) struct TonnageDriver;

/// An open store.
pub(crate) struct TonnageDatabase {
    sql: Sql,
    uri: Arc<str>,
}

impl Driver for TonnageDriver {
    type DatabaseType = TonnageDatabase;

    fn new_database(&mut self) -> Result<TonnageDatabase> {
        self.new_database_with_opts([])
    }

    fn new_database_with_opts(
        &mut self,
        options: impl IntoIterator<Item = (OptionDatabase, OptionValue)>,
    ) -> Result<TonnageDatabase> {
        let (mut uri, mut create, mut store) = ("memory:".to_owned(), true, None);
        for (name, value) in options {
            match name.as_ref() {
                "uri" => uri = text("uri", value)?,
                CREATE => create = truth(CREATE, value)?,
                STORE => store = Some(text(STORE, value)?),
                other => return Err(unknown(other)),
            }
        }
        let uri = uri.strip_prefix("file://").unwrap_or(&uri).to_owned();
        // An open store of the package comes first: a second one would find its directory locked.
        if let Some(number) = store {
            let handle = number.parse().ok().and_then(shared::take);
            let handle = handle.ok_or_else(|| not_found(format!("{STORE}: no store {number}")))?;
            let sql = handle.sql().map_err(|error| invalid(error.to_string()))?;
            return Ok(TonnageDatabase { sql, uri: handle.url().into() });
        }
        if uri.starts_with("grpc") {
            return Err(invalid(format!(
                "{uri}: this driver opens stores; use the Flight SQL driver for a server"
            )));
        }
        // After a fork RocksDB would wait for threads that the child does not have.
        before_open(&uri).or_status()?;
        let store = Store::builder(&uri).create_if_missing(create).open().or_status()?;
        let sql = Sql::new(store, sql_options(None)).or_status()?;
        Ok(TonnageDatabase { sql, uri: uri.into() })
    }
}

fn unknown(name: &str) -> adbc_core::error::Error {
    of_store(&tonnage::Error::unsupported(format!(
        "there is no option {name}: the options are uri, {CREATE} and {STORE}"
    )))
}

impl Optionable for TonnageDatabase {
    type Option = OptionDatabase;

    fn set_option(&mut self, name: OptionDatabase, _: OptionValue) -> Result<()> {
        Err(unknown(name.as_ref()))
    }

    fn get_option_string(&self, name: OptionDatabase) -> Result<String> {
        match name.as_ref() {
            "uri" => Ok(self.uri.to_string()),
            other => Err(not_found(format!("there is no option {other}"))),
        }
    }

    fn get_option_bytes(&self, name: OptionDatabase) -> Result<Vec<u8>> {
        Err(not_found(format!("there is no option {} of bytes", name.as_ref())))
    }

    fn get_option_int(&self, name: OptionDatabase) -> Result<i64> {
        Err(not_found(format!("there is no option {} of a number", name.as_ref())))
    }

    fn get_option_double(&self, name: OptionDatabase) -> Result<f64> {
        Err(not_found(format!("there is no option {} of a number", name.as_ref())))
    }
}

impl Database for TonnageDatabase {
    type ConnectionType = TonnageConnection;

    fn new_connection(&self) -> Result<TonnageConnection> {
        self.new_connection_with_opts([])
    }

    fn new_connection_with_opts(
        &self,
        options: impl IntoIterator<Item = (OptionConnection, OptionValue)>,
    ) -> Result<TonnageConnection> {
        let mut connection = TonnageConnection::new(self.sql.clone());
        for (name, value) in options {
            connection.set_option(name, value)?;
        }
        Ok(connection)
    }
}
