//! INSERT and UPSERT.

use tonnage::{Condition, Row, WriteOptions};

use super::change_row::{key_of_row, value_of_item};
use super::collection_document::Document;
use super::columns::RowColumns;
use super::part::{Output, QueryCall};
use super::stored_row::FoundRow;
use crate::query::evaluate::Scope;
use crate::query::item::{Item, Sequence};
use crate::query::plan::{Names, OutputList, UsedColumns, is_constant, plan_list};
use crate::query::syntax::{Expr, Insert, InsertValue, TtlUnit, TtlValue, VariableDeclaration};
use crate::wire::{
    Failure, Outcome, RowField, default_expiry_ms, is_shown, row_field, ttl_expiry_ms,
};

/// Puts the row of an INSERT or an UPSERT.
///
/// # Errors
/// What is wrong with the row, and what the store says.
pub(crate) fn run_insert(
    call: &QueryCall<'_>,
    insert: &Insert,
    variables: &[VariableDeclaration],
) -> Outcome<Output> {
    let schema = call.table.schema();
    let names = Names { schema, table: &insert.table, variables, unnested: Vec::new() };
    let output = insert.returning.as_ref().map(|list| plan_list(list, &names)).transpose()?;
    let row = given_row(call, insert, &names)?;
    let condition = if insert.replaces { Condition::Always } else { Condition::IfAbsent };
    let scope = Scope::default();
    let ttl = insert.ttl.clone();
    let expires_at_ms = Some(match ttl {
        Some(ttl) => expiry_of(call, &found_ttl(ttl, &names, true)?, &scope)?,
        None => default_expiry_ms(schema, call.call.clock),
    });
    let options = WriteOptions { expires_at_ms, ..call.call.write_options() };
    let done = call.table.put_returning(&row, condition, &options)?;
    let Some(output) = output else {
        // One that replaced another counts as none.
        let is_new = done.result.is_stored() && done.previous.is_none();
        return Ok(Output::single("NumRowsInserted", Item::Integer(is_new.into())));
    };
    if !done.result.is_stored() {
        return Ok(Output { names: output.names.into(), ..Output::default() });
    }
    // Numbers that the store generated are in the row that is there now.
    let mut key = key_of_row(&row, schema);
    if let Some(generated) = done.generated {
        let columns = schema.key_columns();
        if let Some(column) = columns.into_iter().find(|column| key.get(&column.name).is_none()) {
            key.set(&column.name, generated);
        }
    }
    let found = call.table.get_with(&key, &call.call.get_options())?;
    let found = found.map(|found| FoundRow {
        row: found.row,
        version: found.version,
        expires_at_ms: found.expires_at_ms,
    });
    returned(call, &output, found.as_slice())
}

fn given_row(call: &QueryCall<'_>, insert: &Insert, names: &Names<'_>) -> Outcome<Row> {
    let schema = names.schema;
    let mut document = Document::of(schema);
    // Without names the values are in the order of the columns, and documents follow them.
    let targets: Vec<InsertTarget<'_>> = match &insert.columns {
        Some(columns) => {
            columns.iter().map(|name| target_of(insert, name, schema)).collect::<Outcome<_>>()?
        }
        None => {
            let columns = (0..schema.columns.len()).filter(|column| is_shown(schema, *column));
            let mut targets: Vec<_> = columns.map(InsertTarget::Column).collect();
            if document.is_some() && targets.len() < insert.values.len() {
                targets.resize(insert.values.len(), InsertTarget::Documents);
            }
            targets
        }
    };
    if targets.len() != insert.values.len() {
        let named = if insert.columns.is_some() { "listed" } else { "table" };
        return Err(Failure::argument(format!(
            "Error: {} The number of VALUES expressions is not equal to the number of {named} \
             columns",
            insert.place
        )));
    }
    let mut row = Row::with_capacity(targets.len());
    for (target, value) in targets.into_iter().zip(&insert.values) {
        // The store makes what is left out.
        let InsertValue::Value(expr) = value else { continue };
        let mut expr = expr.clone();
        names.find(&mut expr)?;
        check_constant(&expr)?;
        let item = match call.evaluator.evaluate(&expr, &Scope::default())? {
            Sequence::Many(_) => {
                let message = format!("Error: {} a value has more than one item", expr.place);
                return Err(Failure::argument(message));
            }
            given => given.into_field(),
        };
        match (target, &mut document) {
            (InsertTarget::Column(column), _) => {
                let column = &schema.columns[column];
                row.set(&column.name, value_of_item(expr.place, &item, column)?);
            }
            (InsertTarget::Field(name), Some(document)) => {
                document.set(expr.place, name, item)?;
            }
            (_, Some(document)) => document.set_all(expr.place, &item)?,
            (_, None) => {}
        }
    }
    if let Some(document) = document {
        let (column, value) = document.into_value()?;
        row.set(&schema.columns[column].name, value);
    }
    let lacks = |column: &&tonnage::Column| {
        let is_made = column.identity.is_some() || column.default_function.is_some();
        row.get(&column.name).is_none() && !is_made
    };
    match schema.key_columns().find(lacks) {
        Some(column) => Err(Failure::argument(format!(
            "Error: {} No value specified for primary key column {}",
            insert.place, column.name
        ))),
        None => Ok(row),
    }
}

/// Where a value of a new row belongs.
#[derive(Clone, Copy)]
enum InsertTarget<'s> {
    Column(usize),
    /// A field of the document of a JSON collection.
    Field(&'s str),
    /// All fields of the value become fields of the document.
    Documents,
}

fn target_of<'s>(
    insert: &Insert,
    name: &'s str,
    schema: &tonnage::TableSchema,
) -> Outcome<InsertTarget<'s>> {
    match row_field(schema, name) {
        Some(RowField::Column(column)) => Ok(InsertTarget::Column(column)),
        Some(RowField::Document(_)) => Ok(InsertTarget::Field(name)),
        None => {
            let message = format!("Error: {} {name} is not a column", insert.place);
            Err(Failure::argument(message))
        }
    }
}

fn check_constant(expr: &Expr) -> Outcome<()> {
    match is_constant(expr) {
        true => Ok(()),
        false => Err(Failure::argument(format!(
            "Error: {} there is no row yet: a value of a new row names no column",
            expr.place
        ))),
    }
}

/// A time to live whose names are found. That of a new row names no column.
pub(super) fn found_ttl(ttl: TtlValue, names: &Names<'_>, is_new: bool) -> Outcome<TtlValue> {
    let TtlValue::Of(mut expr, unit) = ttl else { return Ok(ttl) };
    names.find(&mut expr)?;
    if is_new {
        check_constant(&expr)?;
    }
    Ok(TtlValue::Of(expr, unit))
}

/// When a row expires that a statement puts; 0 is never.
pub(super) fn expiry_of(call: &QueryCall<'_>, ttl: &TtlValue, scope: &Scope<'_>) -> Outcome<u64> {
    let TtlValue::Of(expr, unit) = ttl else {
        return Ok(default_expiry_ms(call.table.schema(), call.call.clock));
    };
    let given = call.evaluator.evaluate(expr, scope)?;
    let number = given.as_slice().first().and_then(Item::whole).unwrap_or(0).max(0);
    let unit = if *unit == TtlUnit::Hours { "HOURS" } else { "DAYS" };
    ttl_expiry_ms(&format!("{number} {unit}"), call.call.clock.now_ms())
}

/// What a statement returns of the rows that it changed.
pub(super) fn returned(
    call: &QueryCall<'_>,
    output: &OutputList,
    rows: &[FoundRow],
) -> Outcome<Output> {
    let mut used = UsedColumns::default();
    output.exprs.iter().for_each(|expr| used.add(expr));
    let mut columns = RowColumns::new(call.table, &used);
    let mut returned = Output { names: output.names.clone().into(), ..Output::default() };
    for row in rows {
        columns.load(row);
        let scope = columns.scope(&[]);
        let items = output.exprs.iter();
        let items = items.map(|expr| Ok(call.evaluator.evaluate(expr, &scope)?.into_field()));
        returned.rows.push(items.collect::<Outcome<Vec<Item>>>()?.into());
    }
    Ok(returned)
}
