//! `SHOW FUNCTIONS [LIKE 'json%']`: every function that statements may call.

use std::collections::BTreeMap;

use arrow::array::{RecordBatch, StringArray};
use arrow::compute::{filter_record_batch, like};
use datafusion::execution::session_state::SessionState;
use tonnage::{Error, Result};

use super::show::texts;
use crate::text::own_functions;

/// The functions by name, with their kinds, and what means them where they are written in others.
pub(crate) fn list_functions(state: &SessionState, pattern: Option<&str>) -> Result<RecordBatch> {
    let functions = all(state);
    let of_each = |tell: fn([&str; 3]) -> &str| -> Vec<String> {
        functions
            .iter()
            .map(|((name, kind), meaning)| tell([name, kind, meaning]).to_owned())
            .collect()
    };
    let rows = texts([
        ("function", of_each(|[name, ..]| name)),
        ("kind", of_each(|[_, kind, _]| kind)),
        ("stands_for", of_each(|[.., meaning]| meaning)),
    ])?;
    let Some(pattern) = pattern else { return Ok(rows) };
    let internal = |error: arrow::error::ArrowError| Error::internal(error.to_string());
    let is_like = like(rows.column(0), &StringArray::new_scalar(pattern)).map_err(internal)?;
    filter_record_batch(&rows, &is_like).map_err(internal)
}

/// The names of all functions.
pub(crate) fn function_names(state: &SessionState) -> Vec<String> {
    all(state).into_keys().map(|(name, _)| name).collect()
}

/// What each name means, by name and kind: nothing where it is a function of its own.
type FunctionsByName = BTreeMap<(String, &'static str), String>;

/// What the planner has, under all names, and what is written in others before planning.
fn all(state: &SessionState) -> FunctionsByName {
    let mut found = FunctionsByName::new();
    let mut note = |name: &str, kind, own_name: &str| {
        let stands_for = if name == own_name { String::new() } else { own_name.to_owned() };
        // Names that begin with a line are those of operators.
        if !name.starts_with('_') {
            found.insert((name.to_owned(), kind), stands_for);
        }
    };
    let scalars = state.scalar_functions().iter();
    scalars.for_each(|(name, function)| note(name, "scalar", function.name()));
    let aggregates = state.aggregate_functions().iter();
    aggregates.for_each(|(name, function)| note(name, "aggregate", function.name()));
    let windows = state.window_functions().iter();
    windows.for_each(|(name, function)| note(name, "window", function.name()));
    let tables = state.table_functions().keys();
    tables.for_each(|name| note(name, "table", name));
    for (name, kind, meaning) in own_functions() {
        found.insert((name.to_owned(), kind), meaning.to_owned());
    }
    found
}
