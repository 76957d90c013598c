//! Values converted to the types that they are compared and computed in, before the planner
//! converts them by its own rules.
//!
//! The rules are in `texts.rs`, `moments.rs`, `intervals.rs`, `window_frames.rs`, `patterns.rs`,
//! `numbers.rs` and others. Each is a function that rewrites one expression whose parts are
//! rewritten. `interval_groups.rs` has a rule that rewrites nodes.

use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::expr::{InSubquery, SetComparison};
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    Expr, ExprSchemable, Join, LogicalPlan, Projection, Subquery, Union,
};
use datafusion::optimizer::AnalyzerRule;

use super::intervals::as_length;
use super::named_expressions::map_named;
use super::numbers::{self, NumberKind};
use super::{
    casts, interval_groups, intervals, json_keys, json_values, list_calls, moments, nested_values,
    sixteen_bytes, texts, values,
};
use crate::interval::is_interval;
use crate::upstream::{
    map_keys, patterns, refuse_evaluated_twice, select_from_values, sort_keys, swapped_bounds,
    wide_comparisons, window_frames,
};

/// Runs before types are brought together.
#[derive(Debug)]
pub(crate) struct TypeRule;

impl AnalyzerRule for TypeRule {
    fn name(&self) -> &str {
        "types_as_written"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(rewrite_node).map(|rewritten| rewritten.data)
    }
}

fn rewrite_node(node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let node = match node {
        LogicalPlan::Union(union) => LogicalPlan::Union(unify_union(union)?),
        LogicalPlan::Join(join) => LogicalPlan::Join(unify_join(join)?),
        LogicalPlan::Values(rows) => LogicalPlan::Values(values::with_one_type(rows)?),
        node => node,
    };
    // A scan has no inputs to merge: its filters name columns of the table.
    let schema = match &node {
        LogicalPlan::TableScan(scan) => scan.projected_schema.as_ref().clone(),
        node => merge_schema(&node.inputs()),
    };
    let node = json_values::sort_documents(sort_keys::distinct_on_each_key(node), &schema);
    let node = nested_values::sort_nested(intervals::sort_by_length(node, &schema)?, &schema);
    let rewritten =
        map_named(node, |expr| expr.transform_up(|part| rewrite_expression(part, &schema)))?;
    // An input may have other types than before; what only hands its columns on has them too.
    let hands_on = matches!(
        rewritten.data,
        LogicalPlan::Projection(_)
            | LogicalPlan::SubqueryAlias(_)
            | LogicalPlan::Aggregate(_)
            | LogicalPlan::Window(_)
            | LogicalPlan::Join(_)
            | LogicalPlan::Distinct(_)
    );
    let rewritten = if rewritten.transformed || hands_on {
        rewritten.map_data(LogicalPlan::recompute_schema)?
    } else {
        rewritten
    };
    rewritten.map_data(interval_groups::group_by_length)
}

fn rewrite_expression(part: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    refuse_evaluated_twice(&part, schema)?;
    let part = casts::rewrite_cast(part, schema)?;
    let part = part.transform_data(|part| Ok(swapped_bounds::column_first(part)))?;
    let part = part.transform_data(|part| json_values::compare_documents(part, schema))?;
    let part = part.transform_data(|part| Ok(sort_keys::without_repeated_keys(part)))?;
    let part = part.transform_data(|part| texts::read_beside(part, schema))?;
    let part = part.transform_data(|part| Ok(moments::compare_with_columns(part, schema)))?;
    let part = part.transform_data(|part| intervals::compare_by_length(part, schema))?;
    let part = part.transform_data(|part| rewrite_membership(part, schema))?;
    let part = part.transform_data(|part| Ok(window_frames::range_to_groups(part, schema)))?;
    let part = part.transform_data(|part| Ok(patterns::protect_pattern(part)))?;
    let part = part.transform_data(|part| Ok(json_keys::check_json_keys(part, schema)))?;
    let part = part.transform_data(|part| map_keys::rewrite_map_lookup(part, schema))?;
    let part = part.transform_data(|part| Ok(list_calls::without_null_items(part, schema)))?;
    let part = part.transform_data(|part| nested_values::compare_nested(part, schema))?;
    let part = part.transform_data(|part| Ok(sixteen_bytes::keep_mark(part, schema)))?;
    let part = part.transform_data(|part| Ok(wide_comparisons::compare_widely(part, schema)))?;
    part.transform_data(|part| Ok(numbers::unify_numbers(part, schema)))
}

/// A value and the rows of a subquery that it is held against: intervals by their length, and
/// decimals as doubles beside doubles. The planner would make decimals of 15 digits after the
/// point of the doubles: `1e-20` would be among rows with 0, and infinity an error.
fn rewrite_membership(mut part: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let (Expr::InSubquery(InSubquery { expr: value, subquery, .. })
    | Expr::SetComparison(SetComparison { expr: value, subquery, .. })) = &mut part
    else {
        return Ok(Transformed::no(part));
    };
    // The rows were rewritten before, as a plan of their own. So their type is changed by a
    // projection above them.
    let Subquery { subquery: rows, .. } = subquery;
    let is_selected = select_from_values(rows)?;
    let is_read = read_texts_or_moments(value, schema, rows)? || is_selected;
    let of_value = value.get_type(schema).unwrap_or(DataType::Null);
    let first = rows.schema().fields().first();
    let of_rows = first.map_or(DataType::Null, |field| field.data_type().clone());
    if is_interval(&of_value) || is_interval(&of_rows) {
        intervals::refuse_parts(&of_rows)?;
        **value = as_length(std::mem::take(value), &of_value);
        let column = Expr::from(rows.schema().qualified_field(0));
        // It names nothing of the row outside, so `outer_ref_columns` stays complete.
        let length = as_length(column, &of_rows).alias("__length");
        *rows = Arc::new(LogicalPlan::Projection(Projection::try_new(vec![length], rows.clone())?));
        return Ok(Transformed::yes(part));
    }
    match (NumberKind::of(&of_value), NumberKind::of(&of_rows)) {
        (NumberKind::Decimal, NumberKind::Float) => {
            **value = numbers::to_double(std::mem::take(value));
        }
        (NumberKind::Float, NumberKind::Decimal) => *rows = with_doubles(rows.clone(), &[0])?,
        _ if is_read => {}
        _ => return Ok(Transformed::no(part)),
    }
    Ok(Transformed::yes(part))
}

/// Texts beside other values, and days beside timestamps, in one type.
fn read_texts_or_moments(
    value: &mut Expr,
    schema: &DFSchema,
    rows: &mut Arc<LogicalPlan>,
) -> Result<bool> {
    let (relation, field) = rows.schema().qualified_field(0);
    let given = Expr::from((relation, field));
    let mut column = given.clone();
    let rows_schema = rows.schema().clone();
    let mut parts = [(value, schema), (&mut column, rows_schema.as_ref())];
    let is_read = texts::compare(&mut parts)?;
    let is_counted = moments::choose(&mut parts);
    if column != given {
        // It names nothing of the row outside, so `outer_ref_columns` stays complete.
        let column = column.alias(field.name());
        *rows = Arc::new(LogicalPlan::Projection(Projection::try_new(vec![column], rows.clone())?));
    }
    Ok(is_read || is_counted)
}

/// A union whose columns of decimals become doubles where another input has doubles.
fn unify_union(union: Union) -> Result<Union> {
    let (inputs, is_read) = read_union(&union)?;
    let union = Union { inputs, ..union };
    let kinds = |index: usize| {
        union
            .inputs
            .iter()
            .filter_map(move |input| input.schema().fields().get(index))
            .map(|field| NumberKind::of(field.data_type()))
    };
    let is_mixed = |index: &usize| {
        kinds(*index).any(|kind| kind == NumberKind::Float)
            && kinds(*index).any(|kind| kind == NumberKind::Decimal)
    };
    let mixed: Vec<usize> = (0..union.schema.fields().len()).filter(is_mixed).collect();
    // Its inputs may have got other types below.
    let is_outdated = |(index, field): (usize, &FieldRef)| {
        let mut inputs = union.inputs.iter().filter_map(|input| input.schema().fields().get(index));
        inputs.all(|input| input.data_type() != field.data_type())
    };
    if !is_read && mixed.is_empty() && !union.schema.fields().iter().enumerate().any(is_outdated) {
        return Ok(union);
    }
    let inputs = union
        .inputs
        .into_iter()
        .map(|input| with_doubles(input, &mixed))
        .collect::<Result<Vec<_>>>()?;
    // Loose, for other types may still differ: type coercion comes after this rule.
    Union::try_new_with_loose_types(inputs)
}

/// The inputs of a union with texts beside other values read, days beside timestamps as such, and
/// documents beside others as texts.
fn read_union(union: &Union) -> Result<(Vec<Arc<LogicalPlan>>, bool)> {
    let inputs = &union.inputs;
    let width = union.schema.fields().len();
    let columns = |input: &LogicalPlan| {
        (0..width).map(|place| given_column(input, place)).collect::<Option<Vec<Expr>>>()
    };
    let given: Option<Vec<_>> = inputs.iter().map(|input| columns(input)).collect();
    let Some(given) = given else { return Ok((inputs.clone(), false)) };
    // All inputs of a column together: they come to have one type.
    let (mut made, mut is_read) = (given.clone(), false);
    for place in 0..width {
        let cells = made.iter_mut().map(|columns| &mut columns[place]);
        let schemas = inputs.iter().map(|input| input.schema().as_ref());
        let mut parts: Vec<texts::Part<'_>> = cells.zip(schemas).collect();
        is_read |= json_values::choose_in_union(&mut parts);
        is_read |= texts::choose_or_text(&mut parts)?;
        is_read |= moments::choose(&mut parts);
    }
    if !is_read {
        return Ok((inputs.clone(), false));
    }
    // Names stay, for what reads the union knows its columns by them.
    let changed = |((input, given), made): ((&Arc<LogicalPlan>, Vec<Expr>), Vec<Expr>)| {
        let named = given.into_iter().zip(made).enumerate().map(|(place, (given, made))| {
            let (relation, field) = input.schema().qualified_field(place);
            match given == made {
                true => Expr::from((relation, field)),
                false => made.alias_qualified(relation.cloned(), field.name()),
            }
        });
        let named = named.collect();
        Ok(Arc::new(LogicalPlan::Projection(Projection::try_new(named, input.clone())?)))
    };
    let inputs = inputs.iter().zip(given).zip(made).map(changed).collect::<Result<Vec<_>>>()?;
    Ok((inputs, true))
}

/// A column of an input: the literal that it is, or its name.
fn given_column(input: &LogicalPlan, place: usize) -> Option<Expr> {
    if let LogicalPlan::Projection(projection) = input
        && let literal @ Expr::Literal(..) = projection.expr.get(place)?.clone().unalias()
    {
        return Some(literal);
    }
    (place < input.schema().fields().len())
        .then(|| Expr::from(input.schema().qualified_field(place)))
}

fn with_doubles(input: Arc<LogicalPlan>, places: &[usize]) -> Result<Arc<LogicalPlan>> {
    let schema = input.schema().clone();
    let column = |place: usize| {
        let (relation, field) = schema.qualified_field(place);
        let column = Expr::from((relation, field));
        match places.contains(&place) && NumberKind::of(field.data_type()) == NumberKind::Decimal {
            true => numbers::to_double(column).alias_qualified(relation.cloned(), field.name()),
            false => column,
        }
    };
    let columns = (0..schema.fields().len()).map(column).collect();
    Ok(Arc::new(LogicalPlan::Projection(Projection::try_new(columns, input)?)))
}

/// A join by pairs of columns, which no expression compares yet.
fn unify_join(mut join: Join) -> Result<Join> {
    json_values::join_by_texts(&mut join)?;
    wide_comparisons::join_widely(&mut join);
    let (left, right) = (join.left.schema().clone(), join.right.schema().clone());
    for (one, other) in &mut join.on {
        let mut parts = [(&mut *one, left.as_ref()), (&mut *other, right.as_ref())];
        texts::compare(&mut parts)?;
        moments::choose(&mut parts);
        numbers::unify(&mut [(one, left.as_ref()), (other, right.as_ref())]);
    }
    interval_groups::join_by_length(&mut join)?;
    Ok(join)
}
