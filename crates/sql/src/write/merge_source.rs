//! The source of a MERGE, read once.
//!
//! A MERGE reads its source for the rows that match none, and again for each clause of rows that
//! match. A source such as `(SELECT random() AS r)` or one with LIMIT may be another one each time:
//! a row of it would be updated and inserted, or neither. So the rows of such a source are gathered
//! first, and replace it.

use std::ops::ControlFlow;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::datasource::MemTable;
use datafusion::sql::sqlparser::ast::{self, TableFactor};
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan};
use tonnage::{Error, Result, Store};

use super::tokens::{made, quoted, word};
use crate::errors::{from_datafusion, invalid_at};
use crate::planner::Planner;
use crate::session::{Guard, Parameters};
use crate::text::{Looker, VOLATILE, folded, parse, walk, with_distinct_names};
use crate::views;

/// The name under which the rows are looked up. No table can have it.
const ROWS: &str = "rows merged";

/// Rows that replace a source.
pub(super) struct GatheredSource {
    /// The tokens after USING instead.
    pub(super) tokens: Vec<TokenWithSpan>,
    pub(super) rows: (String, Arc<MemTable>),
}

/// The rows of a source that may give others the next time; nothing for one that does not.
///
/// # Errors
/// `Exhausted` when they take more than a quarter of the memory of statements.
pub(super) fn gathered(
    planner: &Planner,
    with: &[TokenWithSpan],
    source: &[TokenWithSpan],
    end: Location,
    parameters: &Parameters,
    guard: &Guard,
) -> Result<Option<GatheredSource>> {
    let mut tokens = with.to_vec();
    tokens.extend([word("SELECT"), made(Token::Mul), word("FROM")]);
    tokens.extend_from_slice(source);
    let parsed = parse(tokens, end)?;
    // Clauses still name columns by the name that the source had.
    let name = name_of(&parsed);
    let bytes_max = planner.context.options.memory_bytes_max / 4;
    let Some(rows) = planner.rows_if_changing(parsed, parameters, guard)? else { return Ok(None) };
    let schema = folded_names(rows.schema());
    let (mut batches, mut bytes) = (Vec::new(), 0);
    for batch in rows {
        let batch = batch?;
        bytes += batch.get_array_memory_size();
        if bytes > bytes_max {
            return Err(Error::exhausted(format!(
                "MERGE gathers the rows of a source that may change between two readings, and they take more than {bytes_max} bytes: raise memory_bytes_max, or merge fewer at once"
            )));
        }
        // SQL looks for columns by small letters. The answer of a query has its own.
        let batch = RecordBatch::try_new(schema.clone(), batch.columns().to_vec());
        batches.push(batch.map_err(|error| Error::internal(error.to_string()))?);
    }
    let table = MemTable::try_new(schema, vec![batches]).map_err(from_datafusion)?;
    let mut tokens = vec![quoted(ROWS)];
    tokens.extend(name.iter().flat_map(|name| [word("AS"), quoted(name)]));
    Ok(Some(GatheredSource { tokens, rows: (ROWS.to_owned(), Arc::new(table)) }))
}

/// The columns under the names that SQL finds them by, no two alike.
fn folded_names(schema: &SchemaRef) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| {
        let name = field.name().to_ascii_lowercase();
        Field::clone(field).with_name(name)
    });
    with_distinct_names(&Arc::new(Schema::new(fields.collect::<Vec<_>>())))
}

/// The name that precedes columns of the source.
fn name_of(query: &ast::Statement) -> Option<String> {
    let ast::Statement::Query(query) = query else { return None };
    let ast::SetExpr::Select(select) = query.body.as_ref() else { return None };
    let source = &select.from.first()?.relation;
    let alias = match source {
        TableFactor::Table { alias, .. }
        | TableFactor::Derived { alias, .. }
        | TableFactor::Function { alias, .. }
        | TableFactor::TableFunction { alias, .. }
        | TableFactor::UNNEST { alias, .. }
        | TableFactor::NestedJoin { alias, .. } => alias.as_ref(),
        _ => None,
    };
    match (alias, source) {
        (Some(alias), _) => Some(folded(&alias.name)),
        (None, TableFactor::Table { name, .. }) => {
            name.0.last().and_then(ast::ObjectNamePart::as_ident).map(folded)
        }
        _ => None,
    }
}

/// Refuses a condition that differs each time it is looked at: every clause would have its own.
/// What it reads counts as well, by way of views and WITH.
///
/// # Errors
/// `Invalid` with the position of the call, or of the condition.
pub(super) fn refuse_changing(
    store: &Store,
    with: &[TokenWithSpan],
    condition: &[TokenWithSpan],
    end: Location,
) -> Result<()> {
    let Some(first) = condition.first() else { return Ok(()) };
    // The parser reads an expression in a statement alone.
    let mut tokens = with.to_vec();
    tokens.push(word("SELECT"));
    tokens.extend_from_slice(condition);
    let mut parsed = parse(tokens, end)?;
    let refused = |place, what: String| {
        Err(invalid_at(
            place,
            format!(
                "{what} differs each time, and each clause of a MERGE looks at ON and at the conditions before its own: compute it as a column of the source"
            ),
        ))
    };
    if let Some((call, place)) = changing_call(&parsed, false) {
        return refused(place, format!("{call}()"));
    }
    views::expand(store, &mut parsed)?;
    // Positions within a view belong to the text of the view.
    match changing_call(&parsed, true) {
        Some((call, _)) => {
            refused(first.span.start, format!("a query that is read here calls {call}(), so it"))
        }
        None => Ok(()),
    }
}

/// A call in the body of a query that gives another value each time; `follows` says whether tables
/// of WITH count that have one.
fn changing_call(query: &ast::Statement, follows: bool) -> Option<(String, Location)> {
    let ast::Statement::Query(query) = query else { return None };
    let mut looker = ChangingCall::default();
    let with = query.with.iter().filter(|_| follows);
    // A table of WITH may read those before it.
    for table in with.flat_map(|with| &with.cte_tables) {
        let _ = walk(table.query.as_ref(), &mut looker);
        if let Some((call, _)) = looker.found.take() {
            looker.tables.push((folded(&table.alias.name), call));
        }
    }
    let _ = walk(query.body.as_ref(), &mut looker);
    looker.found
}

/// Looks for calls of functions that give another value each time.
#[derive(Default)]
struct ChangingCall {
    /// Tables of WITH that have such a call.
    tables: Vec<(String, String)>,
    found: Option<(String, Location)>,
}

impl Looker for ChangingCall {
    fn pre_visit_expr(&mut self, expr: &ast::Expr) -> ControlFlow<Error> {
        if let ast::Expr::Function(function) = expr
            && let Some(name) = function.name.0.last().and_then(ast::ObjectNamePart::as_ident)
            && VOLATILE.iter().any(|known| known.eq_ignore_ascii_case(&name.value))
        {
            // The first one is reported.
            self.found.get_or_insert((name.value.clone(), name.span.start));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, name: &ast::ObjectName) -> ControlFlow<Error> {
        if let [part] = name.0.as_slice()
            && let Some(name) = part.as_ident()
            && let Some((_, call)) = self.tables.iter().find(|(known, _)| *known == folded(name))
        {
            self.found.get_or_insert((call.clone(), name.span.start));
        }
        ControlFlow::Continue(())
    }
}
