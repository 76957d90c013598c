//! A request that is being answered: what it asks for, and what it is answered with.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tonnage::{Clock, Durability, ErrorKind, GetOptions, Store, Table, WriteOptions};

use super::access::{NosqlAccess, TableRight};
use super::failure::{Failure, FailureCode, Outcome};
use super::field;
use super::op_code::OpCode;
use crate::nson::{NsonFields, NsonView};
use crate::query::run::Cursors;

/// The only namespace that there is.
const NAMESPACE: &str = "sysdefault";

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
        let path = table_path(name)?;
        for right in rights {
            self.access.check_table(*right, path)?;
        }
        open_table(self.store, path)
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

/// The path of a table in the store.
pub(super) fn table_path(name: &str) -> Outcome<&str> {
    match name.split_once(':') {
        None => Ok(name),
        Some((namespace, path)) if namespace.eq_ignore_ascii_case(NAMESPACE) => Ok(path),
        Some((namespace, _)) => Err(no_namespaces(namespace)),
    }
}

/// Refuses a namespace other than the one that there is.
pub(super) fn check_namespace(namespace: &str) -> Outcome<()> {
    let is_known = namespace.is_empty() || namespace.eq_ignore_ascii_case(NAMESPACE);
    if is_known { Ok(()) } else { Err(no_namespaces(namespace)) }
}

fn no_namespaces(namespace: &str) -> Failure {
    Failure::unsupported(format!("namespaces are not offered: leave `{namespace}:` out"))
}

fn open_table(store: &Store, path: &str) -> Outcome<Table> {
    store.table(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Failure::no_table(path),
        _ => error.into(),
    })
}
