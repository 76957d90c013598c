//! A request that is being answered: what it asks for, and what it is answered with.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tonnage::{Clock, Durability, ErrorKind, GetOptions, Store, Table, WriteOptions};

use super::access::{NosqlAccess, TableRight};
use super::failure::{Failure, FailureCode, Outcome};
use super::field;
use super::op_code::OpCode;
use super::table_names::table_path;
use crate::nson::{NsonFields, NsonView};
use crate::query::run::Cursors;

/// Numbers definitions, so that a client can ask how they went.
#[derive(Debug, Default)]
pub(super) struct OperationIds(AtomicU64);

impl OperationIds {
    pub(super) fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Whether a definition of this process had that number.
    pub(super) fn is_known(&self, number: u64) -> bool {
        (1..=self.0.load(Ordering::Relaxed)).contains(&number)
    }
}

/// A request, and what it is answered with.
pub(crate) struct Call<'c> {
    pub(super) store: &'c Store,
    pub(crate) clock: &'c dyn Clock,
    pub(super) access: &'c dyn NosqlAccess,
    pub(super) cursors: &'c Cursors,
    pub(super) operation_ids: &'c OperationIds,
    pub(super) operation: OpCode,
    pub(super) table_name: Option<&'c str>,
    /// The namespace of tables that are named without one.
    pub(super) namespace: Option<&'c str>,
    pub(super) payload: NsonFields<'c>,
    pub(crate) timeout: Option<Duration>,
}

impl Call<'_> {
    /// The name of the table that the request is about.
    pub(super) fn table_name(&self) -> Outcome<&str> {
        let name = self.table_name.filter(|name| !name.is_empty());
        name.ok_or_else(|| Failure::new(FailureCode::IllegalArgument, "Table name is required"))
    }

    /// The table of that name. Rights are asked for before it is looked for: whether it exists is
    /// not everybody's to know.
    pub(super) fn table(&self, name: &str, rights: &[TableRight]) -> Outcome<Table> {
        let path = self.path_of(name);
        for right in rights {
            self.access.check_table(*right, &path)?;
        }
        open_table(self.store, &path)
    }

    /// The path in the store of a table as the request names it.
    pub(super) fn path_of<'n>(&self, name: &'n str) -> Cow<'n, str> {
        table_path(name, self.namespace)
    }

    pub(crate) fn write_options(&self) -> WriteOptions {
        let given = self.payload.get(field::DURABILITY).and_then(|given| given.whole());
        // The lowest two bits are for the copy that is written to: synced, left in memory, given
        // to the system. The others are about further copies.
        let durability = match given.map(|bits| bits & 3) {
            Some(1) => Durability::Fsync,
            _ => Durability::Write,
        };
        WriteOptions { durability, timeout: self.timeout, ..WriteOptions::default() }
    }

    pub(crate) fn get_options(&self) -> GetOptions {
        GetOptions { timeout: self.timeout, ..GetOptions::default() }
    }
}

/// A map that a request must have.
pub(super) fn map_of<'d>(payload: NsonFields<'d>, name: &str) -> Outcome<NsonFields<'d>> {
    match payload.get(name) {
        Some(NsonView::Map(fields)) => Ok(fields),
        Some(other) => Err(Failure::argument(format!(
            "Type mismatch on input. Expected MAP, got {}",
            other.kind_name()
        ))),
        None => Err(Failure::protocol(format!("the payload has no field {name}"))),
    }
}

/// Whether a field is there and true.
pub(super) fn is_true(payload: NsonFields<'_>, name: &str) -> bool {
    payload.get(name).and_then(|given| given.truth()) == Some(true)
}

fn open_table(store: &Store, path: &str) -> Outcome<Table> {
    store.table(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Failure::no_table(path),
        _ => error.into(),
    })
}
