//! Documents beside other values: `doc.city IN ('Brest', 'Köln')`, `lower(doc.city)`,
//! `ORDER BY doc.price`.
//!
//! A part of a document is JSON: a text in it has its quotes, and `10` comes before `9`.
//!
//! 1. Beside a text, and as the argument of a function of texts, its text is meant: what `->>`
//!    gives.
//! 2. Beside a truth value, it is one if it is `true` or `false`.
//! 3. Beside any other value it is refused: JSON does not say which type its numbers have, and a
//!    timestamp is a text there.
//! 4. Documents among themselves are ordered as PostgreSQL orders them (`documents/order.rs`).

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue, not_impl_err, plan_err};
use datafusion::functions_aggregate::first_last::first_value_udaf;
use datafusion::logical_expr::expr::{
    AggregateFunction, AggregateFunctionParams, InList, InSubquery, ScalarFunction, SetComparison,
    Sort, WindowFunction,
};
use datafusion::logical_expr::{
    Between, BinaryExpr, Case, Distinct, Expr, ExprSchemable, Join, Like, LogicalPlan, Operator,
    Projection, ScalarUDF, Subquery,
};
use datafusion_functions_json::udfs::{json_as_text_udf, json_get_bool_udf, json_get_json_udf};
use tonnage::ColumnType;
use tonnage::internal::json_text;

use super::keyset::key_set_of_call;
use super::numbers::is_compared;
use super::texts::Part;
use crate::documents;

/// Functions that take texts alone, by the names that plans have for them.
const OF_TEXTS: [&str; 33] = [
    "ascii",
    "bit_length",
    "btrim",
    "character_length",
    "concat",
    "concat_ws",
    "contains",
    "ends_with",
    "find_in_set",
    "initcap",
    "left",
    "levenshtein",
    "lower",
    "lpad",
    "ltrim",
    "md5",
    "octet_length",
    "regexp_count",
    "regexp_instr",
    "regexp_like",
    "regexp_match",
    "regexp_replace",
    "repeat",
    "replace",
    "reverse",
    "right",
    "rpad",
    "rtrim",
    "split_part",
    "starts_with",
    "strpos",
    "substr",
    "upper",
];

/// Functions that give one of their arguments.
const CHOOSING: [&str; 5] = ["coalesce", "greatest", "ifnull", "least", "nvl"];

/// An expression whose parts are done.
pub(super) fn compare_documents(mut part: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let changed = match &mut part {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_compared(*op) || is_pattern(*op) => {
            unify(&mut [left, right], schema)? || order_both(left, *op, right, schema)
        }
        Expr::Like(Like { expr, pattern, .. }) | Expr::SimilarTo(Like { expr, pattern, .. }) => {
            unify(&mut [expr, pattern], schema)?
        }
        Expr::InList(InList { expr, list, .. }) => {
            let mut parts: Vec<&mut Expr> = std::iter::once(expr.as_mut()).chain(list).collect();
            unify(&mut parts, schema)?
        }
        Expr::Between(Between { expr, low, high, .. }) => {
            unify(&mut [expr, low, high], schema)? || {
                // As two comparisons: among documents alone the order is that of their keys.
                let mut parts = [expr, low, high];
                let are_documents = parts.iter().all(|part| is_document(part, schema));
                are_documents && parts.iter_mut().all(|part| order(part, schema))
            }
        }
        Expr::Case(case) => unify_case(case, schema)?,
        Expr::InSubquery(InSubquery { expr, subquery, .. })
        | Expr::SetComparison(SetComparison { expr, subquery, .. }) => {
            unify_membership(expr, subquery, schema)?
        }
        // Of a member that is `null` the library's `->` gives NULL.
        Expr::IsNull(tested) | Expr::IsNotNull(tested) => become_json(tested),
        Expr::ScalarFunction(call) => unify_call(call, schema)?,
        Expr::AggregateFunction(AggregateFunction { func, params }) => {
            let is_changed = match func.name() {
                "min" | "max" if params.args.iter().any(|value| is_document(value, schema)) => {
                    // The library would compare documents as they are written.
                    let is_least = func.name() == "min";
                    *params = extreme(params, is_least, schema);
                    *func = first_value_udaf();
                    return Ok(Transformed::yes(part));
                }
                "string_agg" => all_as_texts(&mut params.args, schema),
                "count" => params.args.iter_mut().map(become_json).filter(|done| *done).count() > 0,
                _ => false,
            };
            order_keys(&mut params.order_by, schema) || is_changed
        }
        Expr::WindowFunction(function) => {
            let WindowFunction { fun, params } = function.as_mut();
            if matches!(fun.name(), "min" | "max")
                && params.args.iter().any(|value| is_document(value, schema))
            {
                return not_impl_err!(
                    "{} of documents over windows: say as which type, such as CAST(doc->>'a' AS LONG)",
                    fun.name()
                );
            }
            order_keys(&mut params.order_by, schema)
        }
        _ => false,
    };
    Ok(if changed { Transformed::yes(part) } else { Transformed::no(part) })
}

/// A sort, or DISTINCT ON, by documents.
pub(super) fn sort_documents(node: LogicalPlan, schema: &DFSchema) -> LogicalPlan {
    match node {
        LogicalPlan::Sort(mut sort) => {
            order_keys(&mut sort.expr, schema);
            LogicalPlan::Sort(sort)
        }
        LogicalPlan::Distinct(Distinct::On(mut distinct)) => {
            // It names what the order begins with, so both change in the same way.
            for key in &mut distinct.on_expr {
                order(key, schema);
            }
            order_keys(distinct.sort_expr.as_deref_mut().unwrap_or_default(), schema);
            LogicalPlan::Distinct(Distinct::On(distinct))
        }
        node => node,
    }
}

/// A join by pairs of columns, which no expression compares yet.
pub(super) fn join_by_texts(join: &mut Join) -> Result<()> {
    for (one, other) in &mut join.on {
        let (left, right) = (join.left.schema(), join.right.schema());
        match (is_document(one, left), is_document(other, right)) {
            (true, false) => beside(one, &[other.get_type(right)?])?,
            (false, true) => beside(other, &[one.get_type(left)?])?,
            _ => false,
        };
    }
    Ok(())
}

/// Values that are compared: those that are documents become what the others are. False when
/// nothing is to be changed.
///
/// # Errors
/// For a document beside what is neither a text nor a truth value.
pub(super) fn unify(parts: &mut [&mut Expr], schema: &DFSchema) -> Result<bool> {
    // The types of the others are asked for only where there is a document.
    if !parts.iter().any(|part| is_document(part, schema)) {
        return Ok(false);
    }
    let others = parts.iter().filter(|part| !is_document(part, schema));
    let others: Vec<DataType> = others.map(|part| type_beside(part, schema)).collect();
    let mut changed = false;
    for part in parts {
        if is_document(part, schema) {
            changed |= beside(part, &others)?;
        }
    }
    Ok(changed)
}

/// The type of what is not a document. A parameter without a type is taken for a text.
fn type_beside(part: &Expr, schema: &DFSchema) -> DataType {
    match part {
        Expr::Placeholder(placeholder) if placeholder.field.is_none() => DataType::Utf8,
        part => part.get_type(schema).unwrap_or(DataType::Null),
    }
}

/// Makes of a document what values of these types are.
fn beside(document: &mut Expr, others: &[DataType]) -> Result<bool> {
    let mut others = others.iter().filter(|kind| !kind.is_null());
    match others.next() {
        // NULL and other documents are left as they are.
        None => Ok(false),
        Some(kind) if kind.is_string() && others.all(DataType::is_string) => {
            turn(document, json_as_text_udf);
            Ok(true)
        }
        Some(DataType::Boolean) => match call_of(document) {
            Some(args) => {
                *document = named(document, call(json_get_bool_udf(), args));
                Ok(true)
            }
            None => plan_err!(
                "a document is compared with a BOOLEAN: say as which, such as CAST(doc->>'a' AS BOOLEAN)"
            ),
        },
        Some(kind) if kind.is_numeric() => plan_err!(
            "a part of a document is compared with a number: say as which, such as CAST(doc->>'a' AS LONG)"
        ),
        Some(_) => plan_err!(
            "a part of a document is compared with a value of another type: say as which, such as \
             CAST(doc->>'a' AS TIMESTAMP)"
        ),
    }
}

/// A comparison of two documents by their order. Equality is decided by their texts.
fn order_both(left: &mut Expr, op: Operator, right: &mut Expr, schema: &DFSchema) -> bool {
    let is_order = matches!(op, Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq);
    is_order
        && is_document(left, schema)
        && is_document(right, schema)
        && order(left, schema)
        && order(right, schema)
}

/// The operand of CASE with what it is compared with, and its results with each other.
fn unify_case(case: &mut Case, schema: &DFSchema) -> Result<bool> {
    let Case { expr, when_then_expr, else_expr } = case;
    let mut changed = false;
    // Without an operand CASE compares nothing: its conditions compare for themselves.
    if let Some(operand) = expr {
        let listed = when_then_expr.iter_mut().map(|(when, _)| when.as_mut());
        let mut parts: Vec<&mut Expr> = std::iter::once(operand.as_mut()).chain(listed).collect();
        changed |= unify(&mut parts, schema)?;
    }
    let results = when_then_expr.iter_mut().map(|(_, then)| then.as_mut());
    let mut results: Vec<&mut Expr> = results.chain(else_expr.as_deref_mut()).collect();
    Ok(choose(&mut results, schema) || changed)
}

/// Values of which one is the result: documents become texts where one of them is a text that is
/// no document.
fn choose(values: &mut [&mut Expr], schema: &DFSchema) -> bool {
    let is_text = |value: &&mut Expr| {
        kind_of(value, schema) == JsonKind::None
            && value.get_type(schema).is_ok_and(|kind| kind.is_string())
    };
    if !values.iter().any(is_text) {
        return false;
    }
    let mut changed = false;
    for value in values {
        changed |= become_text(value, schema);
    }
    changed
}

/// A column of each input of a union: documents become texts where another is none, and texts that
/// are written as JSON become documents where all are.
pub(super) fn choose_in_union(parts: &mut [Part<'_>]) -> bool {
    let kinds: Vec<JsonKind> = parts.iter().map(|(part, schema)| kind_of(part, schema)).collect();
    if !kinds.contains(&JsonKind::Document) {
        return false;
    }
    let is_other = |((part, schema), kind): (&Part<'_>, &JsonKind)| {
        *kind == JsonKind::None && !part.get_type(*schema).is_ok_and(|kind| kind.is_null())
    };
    let has_others = parts.iter().zip(&kinds).any(is_other);
    let mut changed = false;
    for ((part, schema), kind) in parts.iter_mut().zip(kinds) {
        changed |= match kind {
            JsonKind::Document => has_others && become_text(part, schema),
            JsonKind::Written => !has_others && !is_null(part) && become_document(part),
            JsonKind::None => false,
        };
    }
    changed
}

/// The document that a text is written as.
fn become_document(text: &mut Expr) -> bool {
    let Some(function) = documents::function("_json") else { return false };
    *text = call(Arc::new(function), vec![std::mem::take(text)]);
    true
}

/// A value and the rows of a subquery that it is held against.
fn unify_membership(
    value: &mut Box<Expr>,
    subquery: &mut Subquery,
    schema: &DFSchema,
) -> Result<bool> {
    let rows = &mut subquery.subquery;
    let (relation, field) = rows.schema().qualified_field(0);
    let mut column = Expr::from((relation, field));
    let are_documents = is_document(&column, rows.schema());
    match (is_document(value, schema), are_documents) {
        (true, false) => beside(value, &[field.data_type().clone()]),
        (false, true) => {
            let name = field.name().clone();
            let changed = beside(&mut column, &[type_beside(value, schema)])?;
            if changed {
                // It names nothing of the row outside, so `outer_ref_columns` stays complete.
                let texts = Projection::try_new(vec![column.alias(name)], rows.clone())?;
                *rows = Arc::new(LogicalPlan::Projection(texts));
            }
            Ok(changed)
        }
        _ => Ok(false),
    }
}

fn unify_call(call: &mut ScalarFunction, schema: &DFSchema) -> Result<bool> {
    let name = call.func.name();
    if OF_TEXTS.contains(&name) {
        return Ok(all_as_texts(&mut call.args, schema));
    }
    if CHOOSING.contains(&name) {
        return Ok(choose(&mut call.args.iter_mut().collect::<Vec<_>>(), schema));
    }
    // It compares its arguments as `=` does.
    if name == "nullif" {
        return unify(&mut call.args.iter_mut().collect::<Vec<_>>(), schema);
    }
    // A long list of values, which replaces `IN`.
    let listed = match key_set_of_call(call) {
        Some((tested, values)) if is_document(tested, schema) => values.data_type().clone(),
        _ => return Ok(false),
    };
    beside(&mut call.args[0], &[listed])
}

fn all_as_texts(values: &mut [Expr], schema: &DFSchema) -> bool {
    let mut changed = false;
    for value in values {
        changed |= become_text(value, schema);
    }
    changed
}

/// The text of a value that is a document. False for what is none.
fn become_text(value: &mut Expr, schema: &DFSchema) -> bool {
    let is_document = is_document(value, schema);
    if is_document {
        turn(value, json_as_text_udf);
    }
    is_document
}

/// What `->` gives as JSON. False for what is no such step.
fn become_json(value: &mut Expr) -> bool {
    let is_step = matches!(unaliased(value), Expr::ScalarFunction(call)
        if call.func.name() == "json_get");
    if is_step {
        turn(value, json_get_json_udf);
    }
    is_step
}

/// The least or greatest document as the first one in their order.
fn extreme(
    params: &mut AggregateFunctionParams,
    is_least: bool,
    schema: &DFSchema,
) -> AggregateFunctionParams {
    let mut args = std::mem::take(&mut params.args);
    // The value `null` is the least document, and there; one that is not there is NULL.
    let mut document = args[0].clone();
    turn(&mut document, json_get_json_udf);
    let there = document.is_not_null();
    let filter = match params.filter.take() {
        Some(filter) => filter.and(there),
        None => there,
    };
    let mut key = args[0].clone();
    order(&mut key, schema);
    turn(&mut args[0], json_get_json_udf);
    AggregateFunctionParams {
        args,
        distinct: false,
        filter: Some(Box::new(filter)),
        order_by: vec![key.sort(is_least, !is_least)],
        null_treatment: None,
    }
}

fn order_keys(keys: &mut [Sort], schema: &DFSchema) -> bool {
    let mut changed = false;
    for key in keys {
        changed |= order(&mut key.expr, schema);
    }
    changed
}

/// Makes of a document what sorts as documents do. False for what is none.
fn order(document: &mut Expr, schema: &DFSchema) -> bool {
    let is_document = is_document(document, schema);
    if is_document {
        turn(document, json_get_json_udf);
        *document = documents::order_of(std::mem::take(document));
    }
    is_document
}

/// Makes a text of a document, or JSON of what `->` gives, which is a value of several types.
fn turn(document: &mut Expr, into: fn() -> Arc<ScalarUDF>) {
    // What a choice gives is none of the calls below, so each that it chooses from is turned.
    if let Some(choices) = choices_of(document) {
        choices.into_iter().for_each(|choice| turn(choice, into));
        return;
    }
    match call_of(document) {
        Some(args) => *document = named(document, call(into(), args)),
        // JSON stays what it is. The text of a whole document is that at the end of no path.
        None if into().name() == "json_get_json" || is_null(document) => {}
        None => *document = named(document, call(into(), vec![document.clone()])),
    }
}

/// The values of which an expression gives one.
fn choices_of(expr: &mut Expr) -> Option<Vec<&mut Expr>> {
    match expr {
        Expr::Alias(alias) => choices_of(&mut alias.expr),
        Expr::Case(Case { when_then_expr, else_expr, .. }) => {
            let results = when_then_expr.iter_mut().map(|(_, then)| then.as_mut());
            Some(results.chain(else_expr.as_deref_mut()).collect())
        }
        Expr::ScalarFunction(call) if is_choosing(call) => Some(call.args.iter_mut().collect()),
        _ => None,
    }
}

fn is_choosing(call: &ScalarFunction) -> bool {
    CHOOSING.contains(&call.func.name()) || call.func.name() == "nullif"
}

fn is_null(expr: &Expr) -> bool {
    matches!(unaliased(expr), Expr::Literal(value, _) if value.is_null())
}

/// A call under the name of what it replaces.
fn named(before: &Expr, call: Expr) -> Expr {
    call.alias(before.schema_name().to_string())
}

fn call(func: Arc<ScalarUDF>, args: Vec<Expr>) -> Expr {
    Expr::ScalarFunction(ScalarFunction { func, args })
}

/// The arguments of a call that takes a part out of a document.
fn call_of(expr: &Expr) -> Option<Vec<Expr>> {
    match unaliased(expr) {
        Expr::ScalarFunction(call) if matches!(call.func.name(), "json_get" | "json_get_json") => {
            Some(call.args.clone())
        }
        _ => None,
    }
}

/// Whether a value is JSON.
#[derive(Clone, Copy, PartialEq, Eq)]
enum JsonKind {
    /// A document, or a part of one.
    Document,
    /// The value of some literals: NULL, and a text in quotes that is written as JSON.
    Written,
    None,
}

/// Whether a value is JSON: a document, or a part of one.
pub(super) fn is_document(expr: &Expr, schema: &DFSchema) -> bool {
    kind_of(expr, schema) == JsonKind::Document
}

/// Looks at each part of an expression once: a choice may be nested in another one many times.
fn kind_of(expr: &Expr, schema: &DFSchema) -> JsonKind {
    match unaliased(expr) {
        Expr::Literal(value, _) => kind_of_literal(value),
        Expr::Placeholder(_) | Expr::BinaryExpr(_) | Expr::Not(_) => JsonKind::None,
        // The type of a choice does not say that all it chooses from is JSON.
        Expr::Case(Case { when_then_expr, else_expr, .. }) => {
            let results = when_then_expr.iter().map(|(_, then)| then.as_ref());
            kind_of_choice(results.chain(else_expr.as_deref()), schema)
        }
        Expr::ScalarFunction(call) if is_choosing(call) => kind_of_choice(call.args.iter(), schema),
        expr => {
            let is_json = || {
                expr.to_field(schema)
                    .is_ok_and(|(_, field)| ColumnType::of_arrow(&field) == Some(ColumnType::Json))
            };
            if call_of(expr).is_some() || is_json() { JsonKind::Document } else { JsonKind::None }
        }
    }
}

fn kind_of_choice<'e>(values: impl Iterator<Item = &'e Expr>, schema: &DFSchema) -> JsonKind {
    let mut found = JsonKind::None;
    for value in values {
        match kind_of(value, schema) {
            JsonKind::None => return JsonKind::None,
            JsonKind::Document => found = JsonKind::Document,
            JsonKind::Written => {}
        }
    }
    found
}

fn kind_of_literal(value: &ScalarValue) -> JsonKind {
    let is_written = match value.try_as_str() {
        Some(Some(text)) => json_text::checked(text).is_ok(),
        Some(None) => true,
        None => value.is_null(),
    };
    if is_written { JsonKind::Written } else { JsonKind::None }
}

fn unaliased(expr: &Expr) -> &Expr {
    match expr {
        Expr::Alias(alias) => unaliased(&alias.expr),
        expr => expr,
    }
}

fn is_pattern(op: Operator) -> bool {
    matches!(
        op,
        Operator::RegexMatch
            | Operator::RegexIMatch
            | Operator::RegexNotMatch
            | Operator::RegexNotIMatch
            | Operator::LikeMatch
            | Operator::ILikeMatch
            | Operator::NotLikeMatch
            | Operator::NotILikeMatch
    )
}
