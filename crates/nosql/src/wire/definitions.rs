//! Definitions: tables and indexes are created, altered and dropped.
//!
//! The protocol lets them continue after their answer, and clients ask for their outcome. Here each
//! is done when it is answered; the answer still says that it continues, as clients expect.

use std::time::Duration;

use tonnage::{AlreadyExists, DdlOutcome, Error, ErrorKind, Statement, TableDefinition, parse_ddl};

use super::call::Call;
use super::collection::{RowField, row_field};
use super::ddl::{first_word, translate, with_document_paths};
use super::failure::{Failure, FailureCode, Outcome};
use super::field;
use super::namespaces::exists;
use super::table_names::parts_of_path;
use super::tables::{TableState, described_table, write_state, write_table};
use crate::nson::{NsonView, NsonWriter};

/// What the statements of definitions begin with.
pub(super) const DEFINING: [&str; 3] = ["CREATE", "ALTER", "DROP"];

/// What a definition did.
pub(super) struct DefinitionOutcome {
    /// The table, or that of the index.
    pub(super) table: String,
    /// Whether anything was changed.
    pub(super) is_change: bool,
    /// What was done.
    pub(super) kind: DefinitionKind,
}

/// What a definition does to a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DefinitionKind {
    Create,
    Alter,
    Drop,
}

/// Carries out a definition, and says what the table is now.
pub(super) fn table_request(call: &Call<'_>, out: &mut NsonWriter) -> Outcome<()> {
    let Some(NsonView::String(statement)) = call.payload.get(field::STATEMENT) else {
        return Err(match call.payload.get(field::LIMITS) {
            Some(_) => Failure::unsupported("Table limit operation is not supported"),
            None => Failure::protocol("the payload has no statement"),
        });
    };
    let word = first_word(statement)?;
    if !DEFINING.contains(&word.as_str()) {
        let message = format!("Unsupported query operation {word}");
        return Err(Failure::new(FailureCode::IllegalArgument, message));
    }
    let done = define(call, statement)?;
    // A definition that had nothing to do is nothing to ask about.
    let operation = done.is_change.then(|| call.operation_ids.next());
    let state = match (done.kind, done.is_change) {
        (DefinitionKind::Create, true) => TableState::Creating,
        (DefinitionKind::Alter, true) => TableState::Updating,
        (DefinitionKind::Drop, true) => TableState::Dropping,
        (DefinitionKind::Drop, false) => TableState::Dropped,
        (_, false) => TableState::Active,
    };
    write_state(&done.table, state, operation, out);
    // A table that is being created or dropped has no schema yet, or none any more.
    if matches!(state, TableState::Updating | TableState::Active) {
        write_table(&described_table(call, &done.table)?, out);
    }
    Ok(())
}

/// Carries out one definition.
pub(super) fn define(call: &Call<'_>, statement: &str) -> Outcome<DefinitionOutcome> {
    // Rights are for statements as the store reads them.
    let own = on_documents(call, translate(statement, call.namespace)?)?;
    let mut parsed = parse_ddl(&own).map_err(ddl_failure)?;
    let (Some(definition), true) = (parsed.pop(), parsed.is_empty()) else {
        let message = "Error: give one statement at a time";
        return Err(Failure::new(FailureCode::IllegalArgument, message));
    };
    call.access.check_definition(&own)?;
    check_namespace(call, &definition, statement)?;
    check(call, &definition)?;
    // An existing table is as good as a new one, whatever columns it has.
    if let Statement::CreateTable { definition: wanted, if_not_exists: true } = &definition
        && let Some(table) = call.store.known_table(&wanted.path)
    {
        let table = table.path().to_owned();
        return Ok(DefinitionOutcome { table, is_change: false, kind: DefinitionKind::Create });
    }
    let timeout = call.timeout.unwrap_or(Duration::from_secs(3_600));
    let outcomes = call.store.execute_within(&own, timeout);
    let outcomes = outcomes.map_err(|error| failure_of(error, &definition))?;
    let outcome = outcomes.into_iter().next();
    Ok(match outcome {
        Some(DdlOutcome::Created { table, new }) => {
            DefinitionOutcome { table, is_change: new, kind: DefinitionKind::Create }
        }
        Some(DdlOutcome::Dropped { table, existed }) => {
            DefinitionOutcome { table, is_change: existed, kind: DefinitionKind::Drop }
        }
        Some(DdlOutcome::CreatedIndex { table, new, .. }) => {
            DefinitionOutcome { table, is_change: new, kind: DefinitionKind::Alter }
        }
        Some(DdlOutcome::DroppedIndex { table, existed, .. }) => {
            DefinitionOutcome { table, is_change: existed, kind: DefinitionKind::Alter }
        }
        Some(DdlOutcome::Altered { table }) => {
            DefinitionOutcome { table, is_change: true, kind: DefinitionKind::Alter }
        }
        _ => return Err(Failure::unsupported("that is not a definition of a table or an index")),
    })
}

/// The same statement, where it makes an index on a JSON collection with the column that holds the
/// fields of its rows.
fn on_documents(call: &Call<'_>, own: String) -> Outcome<String> {
    let parsed = parse_ddl(&own);
    let Ok([Statement::CreateIndex { definition, .. }]) = parsed.as_deref() else {
        return Ok(own);
    };
    let Some(table) = call.store.known_table(&definition.table) else { return Ok(own) };
    let schema = table.schema();
    match schema.collection_column() {
        Some(document) => {
            let is_column =
                |name: &str| matches!(row_field(schema, name), Some(RowField::Column(_)));
            with_document_paths(&own, &schema.columns[document].name, is_column)
        }
        None => Ok(own),
    }
}

/// Refuses a table in a namespace that is not there.
fn check_namespace(call: &Call<'_>, definition: &Statement, statement: &str) -> Outcome<()> {
    let Statement::CreateTable { definition, .. } = definition else { return Ok(()) };
    match parts_of_path(&definition.path).0 {
        Some(namespace) if !exists(call, namespace)? => {
            let message = format!(
                "Error from {statement}: Cannot create table. Namespace does not exist: \
                 {namespace}"
            );
            Err(Failure::new(FailureCode::UnknownError, message))
        }
        _ => Ok(()),
    }
}

/// Finds what has a code of its own before the store calls it a mistake.
fn check(call: &Call<'_>, definition: &Statement) -> Outcome<()> {
    match definition {
        Statement::CreateTable { definition, .. } => check_columns(call, definition),
        Statement::AlterTable { path, changes } => {
            let missing = |error: Error| match error.kind() {
                ErrorKind::NotFound => no_such_table(path),
                _ => error.into(),
            };
            let table = call.store.table(path).map_err(missing)?;
            for change in changes {
                let tonnage::internal::Change::DropColumn(name) = change else { continue };
                if table.schema().column_index(name).is_none() {
                    let message = format!("Error: Field does not exist: {name}");
                    return Err(Failure::new(FailureCode::ResourceNotFound, message));
                }
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn check_columns(call: &Call<'_>, definition: &TableDefinition) -> Outcome<()> {
    let columns = &definition.columns;
    for (place, column) in columns.iter().enumerate() {
        if columns[..place].iter().any(|other| other.name.eq_ignore_ascii_case(&column.name)) {
            let message = format!("Column already exists: {}", column.name);
            return Err(Failure::new(FailureCode::ResourceExists, message));
        }
    }
    if let Some((parent, _)) = definition.path.rsplit_once('.')
        && call.store.known_table(parent).is_none()
    {
        let path = &definition.path;
        let message = format!("Error: Parent table does not exist ({parent}) in table path {path}");
        return Err(Failure::new(FailureCode::TableNotFound, message));
    }
    let is_column = |key: &str| columns.iter().any(|column| column.name.eq_ignore_ascii_case(key));
    match definition.key.iter().find(|key| !is_column(key)) {
        None => Ok(()),
        Some(key) => {
            let message =
                format!("Error: Error found when creating the table: Field does not exist: {key}");
            Err(Failure::new(FailureCode::ResourceNotFound, message))
        }
    }
}

#[cold]
fn no_such_table(path: &str) -> Failure {
    let message = format!("Error: Table does not exist: {path}");
    Failure::new(FailureCode::TableNotFound, message)
}

/// What the store says of a definition, with the code that it has here.
fn failure_of(error: Error, definition: &Statement) -> Failure {
    // The store tells one conflict from another by its cause, the SDKs by their codes.
    let is_there = AlreadyExists::caused(&error);
    let is_missing = error.kind() == ErrorKind::NotFound;
    match definition {
        Statement::CreateTable { definition, .. } if is_there => {
            let path = &definition.path;
            let message = format!(
                "Error: User error in query: CREATE TABLE failed for table {path}: Table {path} \
                 already exists"
            );
            Failure::new(FailureCode::TableExists, message)
        }
        Statement::DropTable { path, .. } if is_missing => no_such_table(path),
        Statement::CreateIndex { definition, .. } if is_there => {
            let message = format!(
                "Error: Index {} already exists in table {}",
                definition.name, definition.table
            );
            Failure::new(FailureCode::IndexExists, message)
        }
        Statement::CreateIndex { definition, .. } if is_missing => no_such_table(&definition.table),
        Statement::DropIndex { name, table, .. } if is_missing => {
            let table = table.as_deref().unwrap_or_default();
            let message = format!("Error: Index {name} does not exists in table {table}");
            Failure::new(FailureCode::IndexNotFound, message)
        }
        // Words of the store, with its line and column.
        _ => ddl_failure(error),
    }
}

fn ddl_failure(error: Error) -> Failure {
    match error.kind() {
        // What is there contradicts it: that, too, is a wrong argument to the SDKs.
        ErrorKind::Invalid | ErrorKind::Conflict => {
            let message = format!("Error: {}", error.message());
            Failure::new(FailureCode::IllegalArgument, message)
        }
        _ => error.into(),
    }
}
