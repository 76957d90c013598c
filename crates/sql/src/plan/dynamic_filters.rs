//! Filters that a plan learns while it runs, such as the keys of the other side of a join.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{
    BinaryExpr, Column, DynamicFilterPhysicalExpr, InListExpr, Literal,
};
use datafusion::physical_expr::utils::split_conjunction;
use datafusion::physical_expr_common::physical_expr::snapshot_physical_expr;
use tonnage::Direction;

use crate::access::{
    AccessPath, ColumnBound, ColumnCondition, ColumnTest, IndexChoice, IndexConditions, ReadSpec,
    choose_access_path, choose_index, column_ranges,
};
use crate::errors::into_datafusion;

/// Whether an expression will change while the plan runs.
pub(super) fn is_dynamic(filter: &Arc<dyn PhysicalExpr>) -> bool {
    filter.downcast_ref::<DynamicFilterPhysicalExpr>().is_some()
        || filter.children().into_iter().any(is_dynamic)
}

/// Whether a read can make anything of what a filter will say. Who asks for keys that lead nowhere
/// makes a list of them for nothing.
///
/// Of one column all values are given, of several only the ends of each.
pub(super) fn may_narrow(spec: &ReadSpec, filter: &Arc<dyn PhysicalExpr>) -> bool {
    let mut columns = Vec::new();
    let noted = filter.apply(|part| {
        columns.extend(table_column(spec, part));
        Ok(TreeNodeRecursion::Continue)
    });
    if noted.is_err() {
        return true;
    }
    columns.sort_unstable();
    columns.dedup();
    let schema = spec.table.schema();
    let is_key =
        columns.len() == 1 && schema.shard_key_len == 1 && schema.key.first() == columns.first();
    let leads_index = |column: &usize| {
        let name = &schema.columns[*column].name;
        let mut first = spec.table.indexes.iter().filter_map(|index| index.columns().first());
        first.any(|first| first.is_plain() && first.column == *name)
    };
    is_key || columns.iter().any(leads_index)
}

/// The read with what is known by now taken into account. Reading more than that is right as well,
/// so whatever cannot be used is left.
pub(super) fn narrow_read(spec: ReadSpec, filters: &[Arc<dyn PhysicalExpr>]) -> Result<ReadSpec> {
    // A path through keys stays: what is learned later could only be held against the range that it
    // reads.
    if filters.is_empty() || spec.path != AccessPath::All {
        return Ok(spec);
    }
    let mut conditions = Vec::new();
    for filter in filters {
        // A copy: the join may change the filter meanwhile.
        let known = snapshot_physical_expr(filter.clone())?;
        conditions.extend(
            split_conjunction(&known).into_iter().filter_map(|part| column_condition(&spec, part)),
        );
    }
    let choice = choose_access_path(&spec.table, &conditions).map_err(into_datafusion)?;
    let is_ordered = spec.direction != Direction::Unordered;
    let known = IndexConditions::of_columns(&conditions);
    let path = match choice.path {
        // Not where the plan counts on the order of the key: an index does not give it.
        AccessPath::All if !is_ordered => {
            match choose_index(&spec.table, known, &AccessPath::All, &spec.columns)
                .map_err(into_datafusion)?
            {
                IndexChoice::Chosen { path, .. } => AccessPath::Index(path),
                IndexChoice::Rejected(_) | IndexChoice::None => AccessPath::All,
            }
        }
        path => path,
    };
    let is_left = spec.is_faster_from_cache(&path) || spec.is_near_full_scan(&path);
    if !is_left && path != AccessPath::All {
        return Ok(ReadSpec { path, ..spec });
    }
    let mut spec = spec;
    spec.wanted.extend(column_ranges(&conditions).map_err(into_datafusion)?);
    Ok(spec)
}

/// An expression as a condition on one column of the table.
pub(super) fn column_condition(
    spec: &ReadSpec,
    expr: &Arc<dyn PhysicalExpr>,
) -> Option<ColumnCondition> {
    if let Some(list) = expr.downcast_ref::<InListExpr>() {
        let column = table_column(spec, list.expr())?;
        let values = list.list().iter().map(literal).collect::<Option<Vec<_>>>()?;
        let values = ScalarValue::iter_to_array(values.into_iter().cloned()).ok()?;
        return (!list.negated()).then(|| typed_condition(spec, column, values, ColumnTest::In))?;
    }
    // What is not understood here is left out: more rows are read, and the answer is the same.
    let compared = expr.downcast_ref::<BinaryExpr>()?;
    // Joins and TopK give bounds with the column on the left (DataFusion 55).
    let column = table_column(spec, compared.left())?;
    let value = literal(compared.right())?.to_array().ok()?;
    let bound = |inclusive| move |value| ColumnBound { value, inclusive };
    match compared.op() {
        Operator::Eq => typed_condition(spec, column, value, ColumnTest::In),
        Operator::GtEq => {
            typed_condition(spec, column, value, |value| ColumnTest::Low(bound(true)(value)))
        }
        Operator::Gt => {
            typed_condition(spec, column, value, |value| ColumnTest::Low(bound(false)(value)))
        }
        Operator::LtEq => {
            typed_condition(spec, column, value, |value| ColumnTest::High(bound(true)(value)))
        }
        Operator::Lt => {
            typed_condition(spec, column, value, |value| ColumnTest::High(bound(false)(value)))
        }
        _ => None,
    }
}

/// A condition whose values are of the column's type. The other side of a join that holds nothing
/// but NULL gives NULL for its ends.
fn typed_condition(
    spec: &ReadSpec,
    column: usize,
    values: ArrayRef,
    test: impl Fn(ArrayRef) -> ColumnTest,
) -> Option<ColumnCondition> {
    let field = spec.table.arrow.fields().get(column)?;
    (values.data_type() == field.data_type() && values.null_count() < values.len())
        .then(|| ColumnCondition { column, test: test(values) })
}

/// The column of the table that an expression is: what the store notes of rows is none.
fn table_column(spec: &ReadSpec, expr: &Arc<dyn PhysicalExpr>) -> Option<usize> {
    let column = *spec.columns.get(expr.downcast_ref::<Column>()?.index())?;
    (column < spec.table.schema().columns.len()).then_some(column)
}

fn literal(expr: &Arc<dyn PhysicalExpr>) -> Option<&ScalarValue> {
    expr.downcast_ref::<Literal>().map(Literal::value)
}
