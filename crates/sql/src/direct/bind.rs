//! Binds a simple statement to its table and the values of its parameters.

use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use tonnage::{Consistency, Direction, Result};

use super::literal::array_of;
use super::parse::{ColumnFilter, FilterTest, SelectedColumn, SelectedItems};
use super::{Aggregates, SimpleSelect};
use crate::access::{
    AccessPath, ColumnBound, ColumnCondition, ColumnOrder, ColumnTest, IndexChoice,
    IndexConditions, ReadSpec, SqlTable, choose_access_path, choose_index, direction_for,
};
use crate::catalog::CatalogContext;
use crate::engine::Engine;
use crate::session::Parameters;

/// A simple statement, ready to run.
pub(crate) struct DirectRead {
    pub(crate) spec: ReadSpec,
    pub(crate) work: DirectWork,
}

/// What is done with the rows.
pub(crate) enum DirectWork {
    /// They are given back under these names.
    Rows(SchemaRef),
    /// They are aggregated.
    Aggregates(Aggregates),
}

/// Finds columns and values; `None` when the statement is not so simple after all.
pub(crate) fn bind(
    simple: &SimpleSelect,
    table: &Arc<SqlTable>,
    parameters: &Parameters,
    consistency: Option<Consistency>,
    context: &CatalogContext,
    engine: &Engine,
) -> Result<Option<DirectRead>> {
    let Some(conditions) = conditions(simple, table, parameters)? else { return Ok(None) };
    let Some(columns) = columns(simple, table) else { return Ok(None) };
    let Some(path) = path(table, &conditions, &columns)? else { return Ok(None) };
    let limit = match &simple.limit {
        None => None,
        Some(literal) => match literal.count(parameters)? {
            None => return Ok(None),
            count => count,
        },
    };
    let mut spec = ReadSpec {
        table: table.clone(),
        path,
        columns,
        direction: Direction::Unordered,
        limit,
        latest: None,
        batch_rows_max: context.options.batch_rows_max,
        consistency,
        workers: context.options.workers(),
        keeps_columns: context.options.keeps_columns(),
        wanted: Vec::new(),
        remark: None,
        nearest: None,
    };
    // A scan of kept columns tests the conditions row by row, as only plans of the planner do.
    if spec.is_slower_than_cache(&[]) {
        return Ok(None);
    }
    Ok(match &simple.items {
        SelectedItems::Aggregates(calls) => {
            // The order of one row, and a limit on it, are left to those who know better.
            if limit.is_some() || !simple.order.is_empty() {
                return Ok(None);
            }
            Aggregates::new(calls, &simple.path, &spec, engine)
                .map(|work| DirectRead { spec, work: DirectWork::Aggregates(work) })
        }
        items => order(simple, &spec).and_then(|direction| {
            spec.direction = direction;
            let schema = rename_fields(items, &spec.schema())?;
            Some(DirectRead { spec, work: DirectWork::Rows(schema) })
        }),
    })
}

/// The path that answers all conditions: one through the key, or else through an index that pays.
fn path(
    table: &SqlTable,
    conditions: &[ColumnCondition],
    columns: &[usize],
) -> Result<Option<AccessPath>> {
    let all = |answered: &[bool]| answered.iter().all(|answered| *answered);
    let choice = choose_access_path(table, conditions)?;
    if all(&choice.answered) {
        return Ok(Some(choice.path));
    }
    let known = IndexConditions::of_columns(conditions);
    Ok(match choose_index(table, known, &choice.path, columns)? {
        IndexChoice::Chosen { path, answered } if all(&answered) => {
            Some(AccessPath::Index(path.unchecked()))
        }
        _ => None,
    })
}

fn conditions(
    simple: &SimpleSelect,
    table: &SqlTable,
    parameters: &Parameters,
) -> Result<Option<Vec<ColumnCondition>>> {
    let mut conditions = Vec::with_capacity(simple.filters.len());
    for filter in &simple.filters {
        let Some(condition) = condition(filter, table, parameters)? else { return Ok(None) };
        conditions.push(condition);
    }
    Ok(Some(conditions))
}

fn condition(
    filter: &ColumnFilter,
    table: &SqlTable,
    parameters: &Parameters,
) -> Result<Option<ColumnCondition>> {
    let schema = table.schema();
    let may_be_answered = |column: &usize| schema.is_key(*column) || table.is_indexed(*column, &[]);
    let Some(column) = schema.column_index(&filter.column).filter(may_be_answered) else {
        return Ok(None);
    };
    let column_type = schema.columns[column].column_type;
    let literals = match &filter.test {
        FilterTest::In(literals) => literals.as_slice(),
        FilterTest::Low(literal, _) | FilterTest::High(literal, _) => std::slice::from_ref(literal),
    };
    let Some(value) = array_of(literals, column_type, parameters)? else { return Ok(None) };
    let test = match filter.test {
        FilterTest::In(_) => ColumnTest::In(value),
        FilterTest::Low(_, inclusive) => ColumnTest::Low(ColumnBound { value, inclusive }),
        FilterTest::High(_, inclusive) => ColumnTest::High(ColumnBound { value, inclusive }),
    };
    Ok(Some(ColumnCondition { column, test }))
}

/// The columns to read. One that is named twice is not simple.
fn columns(simple: &SimpleSelect, table: &SqlTable) -> Option<Vec<usize>> {
    let schema = table.schema();
    match &simple.items {
        SelectedItems::All => Some((0..schema.columns.len()).collect()),
        SelectedItems::Aggregates(calls) => {
            let columns = calls.iter().filter_map(|call| call.column.as_ref());
            let mut columns =
                columns.map(|name| schema.column_index(name)).collect::<Option<Vec<_>>>()?;
            columns.sort_unstable();
            columns.dedup();
            Some(columns)
        }
        SelectedItems::Columns(items) => {
            let columns = items
                .iter()
                .map(|item| schema.column_index(&item.column))
                .collect::<Option<Vec<_>>>()?;
            let is_first = |(place, column): (usize, &usize)| !columns[..place].contains(column);
            columns.iter().enumerate().all(is_first).then_some(columns)
        }
    }
}

fn order(simple: &SimpleSelect, spec: &ReadSpec) -> Option<Direction> {
    let schema = spec.table.schema();
    // A name of a column of the answer means that column first.
    let aliased = |name: &String| match &simple.items {
        SelectedItems::Columns(items) => {
            items.iter().find(|item| item.alias.as_ref() == Some(name))
        }
        SelectedItems::All | SelectedItems::Aggregates(_) => None,
    };
    let ordered = |(name, descending): &(String, bool)| {
        let column = aliased(name).map_or(name, |item| &item.column);
        Some(ColumnOrder { column: schema.column_index(column)?, descending: *descending })
    };
    let wanted = simple.order.iter().map(ordered).collect::<Option<Vec<_>>>()?;
    if spec.path == AccessPath::Nothing || wanted.is_empty() {
        return Some(Direction::Unordered);
    }
    direction_for(spec, &wanted)
}

/// The schema under the names that the statement gives; an alias that names another column, too, is
/// not simple.
fn rename_fields(items: &SelectedItems, schema: &SchemaRef) -> Option<SchemaRef> {
    let SelectedItems::Columns(items) = items else { return Some(schema.clone()) };
    let field = |(item, field): (&SelectedColumn, &arrow::datatypes::FieldRef)| match &item.alias {
        Some(alias) => Arc::new(field.as_ref().clone().with_name(alias)),
        None => field.clone(),
    };
    let fields: Vec<_> = items.iter().zip(schema.fields()).map(field).collect();
    let is_first = |(place, field): (usize, &arrow::datatypes::FieldRef)| {
        !fields[..place].iter().any(|before| before.name() == field.name())
    };
    fields.iter().enumerate().all(is_first).then(|| Arc::new(Schema::new(fields.clone())))
}
