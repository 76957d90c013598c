//! Tables and indexes as they are: looked at, and listed.

use tonnage::{ErrorKind, IndexColumn, Table, TableSchema};

use super::call::Call;
use super::collection::is_shown;
use super::ddl::{schema_json, table_text};
use super::failure::{Failure, FailureCode, Outcome};
use super::field;
use super::table_names::{is_within, parts_of_path};
use crate::nson::NsonWriter;

/// How a table fares, by the numbers of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TableState {
    Active = 0,
    Creating = 1,
    Dropped = 2,
    Dropping = 3,
    Updating = 4,
}

/// A tag for no change that a client waits for.
const NO_ETAG: &str = "AAAAAAAAAAA=";

/// Says what a table is.
pub(super) fn get_table(call: &Call<'_>, out: &mut NsonWriter) -> Outcome<()> {
    let name = call.table_name()?;
    let path = &*call.path_of(name);
    call.access.check_description(path)?;
    let operation = operation_of(call)?;
    // A name in a namespace is returned whole.
    let name = if parts_of_path(path).0.is_some() { path } else { name };
    match described_table(call, path) {
        Ok(table) => {
            write_state(name, TableState::Active, operation, out);
            write_table(&table, out);
        }
        // A client that asks for the outcome of a definition asks about a DROP TABLE, too.
        Err(failure) if failure.code == FailureCode::TableNotFound && operation.is_some() => {
            write_state(name, TableState::Dropped, operation, out);
        }
        Err(failure) => return Err(failure),
    }
    Ok(())
}

/// The number of the definition that a client asks about.
fn operation_of(call: &Call<'_>) -> Outcome<Option<u64>> {
    let given = call.payload.get(field::OPERATION_ID).and_then(|given| given.text());
    let Some(given) = given.filter(|given| !given.is_empty()) else { return Ok(None) };
    let unknown = |why: &str| {
        let message = format!("Unable to get status of operation id {given}: {why}");
        Failure::new(FailureCode::IllegalArgument, message)
    };
    let number: u64 =
        given.parse().map_err(|_| unknown(&format!("For input string: \"{given}\"")))?;
    match call.operation_ids.is_known(number) {
        true => Ok(Some(number)),
        false => Err(unknown(&format!("Plan id {number} doesn't exist"))),
    }
}

/// A table that a caller who may know of it asked for.
pub(super) fn described_table(call: &Call<'_>, path: &str) -> Outcome<Table> {
    call.store.table(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Failure::no_table(path),
        _ => error.into(),
    })
}

/// Writes the name of a table and how it fares.
pub(super) fn write_state(
    name: &str,
    state: TableState,
    operation: Option<u64>,
    out: &mut NsonWriter,
) {
    if let (Some(namespace), _) = parts_of_path(name) {
        out.field(field::NAMESPACE).string(namespace);
    }
    out.field(field::TABLE_NAME).string(name);
    out.field(field::TABLE_STATE).integer(state as i32);
    if let Some(operation) = operation {
        out.field(field::OPERATION_ID).string(&operation.to_string());
    }
    out.field(field::ETAG).string(NO_ETAG);
}

/// Writes what a table is, for programs and as its definition.
pub(super) fn write_table(table: &Table, out: &mut NsonWriter) {
    out.field(field::TABLE_SCHEMA).string(&table_json(table));
    out.field(field::TABLE_DDL).string(&table_text(table.schema()));
}

/// A table as JSON.
pub(super) fn table_json(table: &Table) -> String {
    // Tables of a family share a space, and have numbers in it.
    let number = u64::from(table.entry().space.0) << 32 | u64::from(table.schema().table_id);
    schema_json(table.schema(), number)
}

/// Lists the tables that the caller may know of, children before their parents.
pub(super) fn list_tables(call: &Call<'_>, out: &mut NsonWriter) -> Outcome<()> {
    let namespace = call.payload.get(field::NAMESPACE).and_then(|given| given.text());
    let number = |name| {
        let given = call.payload.get(name).and_then(|given| given.whole());
        given.and_then(|given| usize::try_from(given).ok()).unwrap_or(0)
    };
    let (most, start) = (number(field::LIST_MAX), number(field::LIST_START));
    let mut names = table_names(call);
    // A namespace that is not there has no tables: that is not a mistake.
    if let Some(namespace) = namespace.filter(|namespace| !namespace.is_empty()) {
        names.retain(|path| is_within(path, namespace));
    }
    let most = if most == 0 { names.len() } else { most };
    let shown = names.get(start..).unwrap_or_default();
    let shown = &shown[..most.min(shown.len())];
    if shown.is_empty() {
        return Ok(());
    }
    out.field(field::TABLES).begin_array();
    shown.iter().for_each(|name| out.string(name));
    out.end();
    let last = i32::try_from(start + shown.len()).unwrap_or(i32::MAX);
    out.field(field::LAST_INDEX).integer(last);
    Ok(())
}

/// The names of all tables that the caller may know of.
pub(super) fn table_names(call: &Call<'_>) -> Vec<String> {
    let tables = call.store.tables().into_iter();
    let tables = tables.map(|table| table.path().to_owned());
    let mut names: Vec<String> = tables.filter(|path| call.access.may_see(path)).collect();
    // The sign after a point: children directly precede their parents.
    names.sort_by_key(|name| format!("{name}/"));
    names
}

/// The name of an indexed column. Requests see the fields of a document as fields of the row.
fn shown_name(schema: &TableSchema, column: &IndexColumn) -> String {
    let place = schema.column_index(&column.column);
    match place.is_none_or(|place| is_shown(schema, place)) {
        true => column.bare_name(),
        false => column.bare_name().replacen(&format!("{}.", column.column), "", 1),
    }
}

/// Lists the indexes of a table, or one of them.
pub(super) fn get_indexes(call: &Call<'_>, out: &mut NsonWriter) -> Outcome<()> {
    let path = &*call.path_of(call.table_name()?);
    call.access.check_description(path)?;
    let table = described_table(call, path)?;
    // Without a name all are listed.
    let wanted = call.payload.get(field::INDEX).and_then(|given| given.text());
    let indexes = table.indexes()?;
    let is_wanted = |name: &str| wanted.is_none_or(|wanted| wanted.eq_ignore_ascii_case(name));
    let shown: Vec<_> = indexes.iter().filter(|index| is_wanted(index.name())).collect();
    if let (Some(wanted), true) = (wanted, shown.is_empty()) {
        let message = format!("Index, {wanted}, not found in table {path}");
        return Err(Failure::new(FailureCode::IndexNotFound, message));
    }
    if shown.is_empty() {
        return Ok(());
    }
    out.field(field::INDEXES).begin_array();
    for index in shown {
        out.begin_map();
        out.field(field::NAME).string(index.name());
        out.field(field::FIELDS).begin_array();
        for column in index.columns() {
            out.begin_map();
            // Clients compare it with what they wrote, which has no quotes here.
            out.field(field::PATH).string(&shown_name(table.schema(), column));
            out.end();
        }
        out.end();
        out.end();
    }
    out.end();
    Ok(())
}
