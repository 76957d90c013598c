//! Queries: prepared, and carried out a part at a time.

use tonnage::{ColumnType, Table};

use super::access::TableRight;
use super::call::{Call, is_true};
use super::ddl::first_word;
use super::definitions::DEFINING;
use super::failure::{Failure, FailureCode, Outcome};
use super::field;
use super::table_names::parts_of_path;
use super::values::column_value;
use crate::nson::{NsonView, NsonWriter};
use crate::query::evaluate::Evaluator;
use crate::query::item::{Item, NumberContext, item_of_view, json_text_of, write_item};
use crate::query::plan::SelectPlan;
use crate::query::run::{
    Output, PartLimits, QueryCall, run_delete, run_insert, run_select, run_update,
};
use crate::query::syntax::{
    Query, Statement, TableName, TypeKind, VariableDeclaration, parse_statement,
};

/// The newest version of queries that is known.
const QUERY_VERSION_MAX: i64 = 5;
/// What leads the bytes of a prepared statement.
const LEAD: [u8; 4] = *b"TNq1";
/// That an answer needs no more work by the driver.
const NO_DRIVER_PLAN: [u8; 1] = [0xff];

/// A statement, and the table as it was when the statement was prepared.
struct PreparedQuery {
    text: String,
    stamp: Option<[u8; 14]>,
}

/// Prepares a statement.
pub(super) fn prepare(call: &Call<'_>, out: &mut NsonWriter) -> Outcome<()> {
    check_version(call)?;
    let text = given_statement(call)?;
    let query = parse_statement(text)?;
    let table = open_table(call, &query)?;
    check_names(&query, &table)?;
    write_prepared(text, &query, &table, out);
    Ok(())
}

/// Runs a statement, or continues it.
pub(super) fn query(call: &Call<'_>, out: &mut NsonWriter) -> Outcome<()> {
    check_version(call)?;
    let prepared = given_query(call)?;
    let mut query = parse_statement(&prepared.text)?;
    query.variables.extend(positional(query.positional));
    let table = open_table(call, &query)?;
    if prepared.stamp.is_some_and(|stamp| stamp != stamp_of(&table)) {
        let path = table.path();
        let message = format!(
            "QUERY: The query must be prepared again because table {path} has been altered."
        );
        return Err(Failure::new(FailureCode::IllegalArgument, message));
    }
    // Variables have the types of their declarations, so that they are read after these.
    let bound = bound_variables(call, &query.variables)?;
    let output = run(call, &prepared, &query, &table, bound)?;
    out.field(field::QUERY_RESULTS).begin_array();
    for row in &output.rows {
        // What has no name is the whole row.
        if let ([], [item]) = (&*output.names, &**row) {
            write_item(item, out);
            continue;
        }
        out.begin_map();
        for (name, item) in output.names.iter().zip(row.iter()) {
            write_item(item, out.field(name));
        }
        out.end();
    }
    out.end();
    if let Some(continuation) = &output.continuation {
        out.field(field::CONTINUATION).binary(continuation);
    }
    // Who prepared it knows the rest.
    if prepared.stamp.is_none() {
        write_prepared(&prepared.text, &query, &table, out);
    }
    Ok(())
}

fn run(
    call: &Call<'_>,
    prepared: &PreparedQuery,
    query: &Query,
    table: &Table,
    bound: Vec<Item>,
) -> Outcome<Output> {
    let number = |name: &str| call.payload.get(name).and_then(|given| given.whole());
    let most = |name: &str| {
        number(name).and_then(|most| usize::try_from(most).ok()).filter(|most| *most > 0)
    };
    // Clients say how many digits their decimal numbers have.
    let numbers = match number(field::NUMBER_DIGITS) {
        Some(digits) => NumberContext::new(digits, number(field::NUMBER_ROUNDING).unwrap_or(6)),
        None => NumberContext::default(),
    };
    let shown: Vec<String> = bound.iter().map(json_text_of).collect();
    let query_call = QueryCall {
        call,
        table,
        evaluator: Evaluator { bound, numbers, now_ms: call.clock.now_ms() },
        limits: PartLimits { rows: most(field::ROWS_MAX), read_kb: most(field::READ_KB_MAX) },
        continuation: call.payload.get(field::CONTINUATION).and_then(|given| given.bytes()),
        identity: format!("{}\n{}", shown.join(","), prepared.text),
        cursors: call.cursors,
    };
    // Names are found anew: a prepared statement is its text, which any server can read.
    match &query.statement {
        Statement::Select(select) => {
            let plan = SelectPlan::of(select, table.schema(), &query.variables)?;
            run_select(&query_call, &plan)
        }
        Statement::Insert(insert) => run_insert(&query_call, insert, &query.variables),
        Statement::Update(update) => run_update(&query_call, update, &query.variables),
        Statement::Delete(delete) => run_delete(&query_call, delete, &query.variables),
    }
}

fn check_version(call: &Call<'_>) -> Outcome<()> {
    match call.payload.get(field::QUERY_VERSION).and_then(|version| version.whole()) {
        Some(version) if version > QUERY_VERSION_MAX => {
            let message = format!("Unsupported query version {version}");
            Err(Failure::new(FailureCode::UnsupportedQueryVersion, message))
        }
        _ => Ok(()),
    }
}

fn given_statement<'c>(call: &'c Call<'_>) -> Outcome<&'c str> {
    let given = call.payload.get(field::STATEMENT).and_then(|given| given.text());
    let text = given.ok_or_else(|| Failure::protocol("the payload has no statement"))?;
    let word = first_word(text).unwrap_or_default();
    match DEFINING.contains(&word.as_str()) {
        true => Err(Failure::argument(
            "The query and prepare methods can not be used for DDL statements, use TableRequest \
             instead",
        )),
        false => Ok(text),
    }
}

fn given_query(call: &Call<'_>) -> Outcome<PreparedQuery> {
    if !is_true(call.payload, field::IS_PREPARED) {
        return Ok(PreparedQuery { text: given_statement(call)?.to_owned(), stamp: None });
    }
    let rubbish = || Failure::protocol("the bytes are of no prepared statement of this store");
    let bytes = call.payload.get(field::PREPARED_QUERY).and_then(|given| given.bytes());
    let rest = bytes.and_then(|bytes| bytes.strip_prefix(&LEAD)).ok_or_else(rubbish)?;
    let (stamp, text) = rest.split_first_chunk().ok_or_else(rubbish)?;
    let text = std::str::from_utf8(text).map_err(|_| rubbish())?.to_owned();
    Ok(PreparedQuery { text, stamp: Some(*stamp) })
}

/// Tells a table from those that had its name before, and from itself before it was altered.
fn stamp_of(table: &Table) -> [u8; 14] {
    let mut stamp = [0; 14];
    stamp[..8].copy_from_slice(&u64::from(table.entry().space.0).to_be_bytes());
    stamp[8..12].copy_from_slice(&table.schema().table_id.to_be_bytes());
    stamp[12..].copy_from_slice(&table.schema().number.to_be_bytes());
    stamp
}

/// The table of a statement, with the rights that the statement needs.
fn open_table(call: &Call<'_>, query: &Query) -> Outcome<Table> {
    let (table, rights) = table_and_rights(&query.statement);
    call.table(&table.name, &rights)
}

fn table_and_rights(statement: &Statement) -> (&TableName, Vec<TableRight>) {
    // An answer with a row, or on whether one fulfils a condition, reads it.
    match statement {
        Statement::Select(select) => (&select.table, vec![TableRight::Read]),
        Statement::Insert(insert) => {
            let mut rights = vec![TableRight::Insert];
            if insert.replaces {
                rights.push(TableRight::Update);
            }
            if insert.returning.is_some() {
                rights.push(TableRight::Read);
            }
            (&insert.table, rights)
        }
        Statement::Update(update) => (&update.table, vec![TableRight::Update, TableRight::Read]),
        Statement::Delete(delete) => (&delete.table, vec![TableRight::Delete, TableRight::Read]),
    }
}

/// Errors of a SELECT are reported when it is prepared.
fn check_names(query: &Query, table: &Table) -> Outcome<()> {
    let mut variables = query.variables.clone();
    variables.extend(positional(query.positional));
    match &query.statement {
        Statement::Select(select) => SelectPlan::of(select, table.schema(), &variables).map(|_| ()),
        _ => Ok(()),
    }
}

/// The variables that question marks mean.
fn positional(count: usize) -> impl Iterator<Item = VariableDeclaration> {
    (1..=count).map(|place| VariableDeclaration { name: format!("#{place}"), kind: TypeKind::Any })
}

fn bound_variables(call: &Call<'_>, variables: &[VariableDeclaration]) -> Outcome<Vec<Item>> {
    let refuse = |message: String| Err(Failure::argument(message));
    if variables.is_empty() {
        return Ok(Vec::new());
    }
    let given = match call.payload.get(field::BOUND_VARIABLES) {
        Some(NsonView::Array(given)) => given,
        _ => {
            return refuse(
                "The query contains external variables, none of which has been bound.".to_owned(),
            );
        }
    };
    // By the order of declarations, whatever the client sends first.
    let mut bound: Vec<Option<Item>> = vec![None; variables.len()];
    for variable in given.filter_map(|variable| variable.fields()) {
        let name = variable.get(field::NAME).and_then(|name| name.text()).unwrap_or_default();
        let Some(value) = variable.get(field::VALUE) else { continue };
        let Some(place) = variables.iter().position(|own| own.name == name) else {
            return refuse(format!("Variable {name} doesn't exist in the query"));
        };
        let item = bound_item(value, &variables[place].kind).map_err(|why| {
            let message = format!("Failed to create Field Value for variable '{name}': {why}");
            Failure::new(FailureCode::IllegalArgument, message)
        })?;
        bound[place] = Some(item);
    }
    // One that is missing is named as the protocol names it.
    let named = bound.into_iter().zip(variables).map(|(item, variable)| {
        let shown = variable.name.replace('#', "$$");
        item.ok_or_else(|| Failure::argument(format!("Variable {shown} has not been bound")))
    });
    named.collect()
}

fn bound_item(value: NsonView<'_>, kind: &TypeKind) -> Result<Item, String> {
    let column_type = match kind {
        TypeKind::Integer => ColumnType::Integer,
        TypeKind::Long => ColumnType::Long,
        TypeKind::Float => ColumnType::Float,
        TypeKind::Double => ColumnType::Double,
        TypeKind::String => ColumnType::String,
        TypeKind::Boolean => ColumnType::Boolean,
        TypeKind::Timestamp(precision) => ColumnType::Timestamp(precision.unwrap_or(9)),
        _ => return item_of_view(value),
    };
    column_value(value, column_type).map(|value| crate::query::item::item_of_value(&value))
}

fn write_prepared(text: &str, query: &Query, table: &Table, out: &mut NsonWriter) {
    let (name, _) = table_and_rights(&query.statement);
    let operation = match query.statement {
        Statement::Select(_) => 5,
        Statement::Update(_) => 6,
        Statement::Insert(_) => 18,
        Statement::Delete(_) => 19,
    };
    let (namespace, own_name) = parts_of_path(&name.name);
    if let Some(namespace) = namespace {
        out.field(field::NAMESPACE).string(namespace);
    }
    out.field(field::TABLE_NAME).string(own_name);
    out.field(field::QUERY_OPERATION).integer(operation);
    out.field(field::PARALLELISM_MAX).integer(0);
    let mut bytes = LEAD.to_vec();
    bytes.extend(stamp_of(table));
    bytes.extend(text.as_bytes());
    out.field(field::PREPARED_QUERY).binary(&bytes);
    out.field(field::DRIVER_PLAN).binary(&NO_DRIVER_PLAN);
}
