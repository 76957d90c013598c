//! Relations in FROM that the library plans wrongly or not at all: ASOF joins, INTERSECT ALL and
//! EXCEPT ALL, joins by USING, and functions that make rows of documents. `text/joins.rs` and
//! `upstream/sets.rs` write them as joins in parentheses.

use std::sync::Arc;

use arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::{Column, DFSchema, Result, UnnestOptions, not_impl_err, plan_err};
use datafusion::functions::expr_fn::get_field;
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::planner::{
    PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning,
};
use datafusion::logical_expr::type_coercion::binary::comparison_coercion;
use datafusion::logical_expr::utils::split_conjunction_owned;
use datafusion::logical_expr::{
    BinaryExpr, Cast, Expr, ExprFunctionExt, ExprSchemable, Extension, JoinType, LogicalPlan,
    LogicalPlanBuilder, Operator, lit,
};
use datafusion::sql::sqlparser::ast::{
    FunctionArg, FunctionArgExpr, Join, JoinConstraint, JoinOperator, TableAlias, TableFactor,
    TableWithJoins,
};

use super::intervals::as_length;
use super::numbers::NumberKind;
use super::whole_moments::round_moment;
use crate::asof::AsOf;
use crate::documents;
use crate::interval::is_interval;
use crate::text::{is_asof, is_by_names, of_document};
use crate::upstream::{is_counted, using};

/// Plans what is our own.
#[derive(Debug)]
pub(crate) struct OwnRelationPlanner;

impl RelationPlanner for OwnRelationPlanner {
    fn plan_relation(
        &self,
        relation: TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        let planned = match relation {
            // One row without columns.
            TableFactor::UNNEST { array_exprs, alias, .. } if array_exprs.is_empty() => {
                (LogicalPlanBuilder::empty(true).build()?, alias)
            }
            TableFactor::NestedJoin { mut table_with_joins, alias } => {
                let is_own = |join: &mut Join| {
                    is_asof(join)
                        || is_counted(join)
                        || of_document(&join.relation).is_some()
                        || is_by_names(join)
                };
                let Some(join) = table_with_joins.joins.pop_if(is_own) else {
                    let relation = TableFactor::NestedJoin { table_with_joins, alias };
                    return Ok(RelationPlanning::Original(Box::new(relation)));
                };
                // `context.plan` asks this planner again for the joins before the last.
                let left = context.plan(left_of_last_join(*table_with_joins))?;
                (plan_join(left, join, context)?, alias)
            }
            relation => return Ok(RelationPlanning::Original(Box::new(relation))),
        };
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(planned.0, planned.1))))
    }
}

/// The left side of the last join.
fn left_of_last_join(table: TableWithJoins) -> TableFactor {
    match table.joins.is_empty() {
        true => table.relation,
        false => TableFactor::NestedJoin { table_with_joins: Box::new(table), alias: None },
    }
}

fn plan_join(
    left: LogicalPlan,
    join: Join,
    context: &mut dyn RelationPlannerContext,
) -> Result<LogicalPlan> {
    // Its argument names columns of the left side, so it cannot be planned by itself.
    if let Some(name) = of_document(&join.relation) {
        return plan_document_rows(left, &name, join, context);
    }
    let by_names = is_by_names(&join);
    let right = context.plan(join.relation)?;
    if by_names {
        return plan_join_by_names(left, right, join.join_operator, context);
    }
    // The parser has no names for these joins: `upstream/sets.rs` writes sets that count as SEMI
    // and ANTI, and ASOF without MATCH_CONDITION comes as a global join.
    match join.join_operator {
        JoinOperator::LeftSemi(_) => plan_counting_set(left, right, LogicalPlanBuilder::intersect),
        JoinOperator::LeftAnti(_) => plan_counting_set(left, right, LogicalPlanBuilder::except),
        JoinOperator::AsOf { match_condition, constraint } => {
            let schema = left.schema().join(right.schema())?;
            let moments = context.sql_to_expr(match_condition, &schema)?;
            plan_asof((left, right), Some(moments), constraint, join.global, context)
        }
        JoinOperator::Left(constraint) | JoinOperator::LeftOuter(constraint) => {
            plan_asof((left, right), None, constraint, true, context)
        }
        JoinOperator::Join(constraint) | JoinOperator::Inner(constraint) => {
            plan_asof((left, right), None, constraint, false, context)
        }
        _ => not_impl_err!("ASOF JOIN and ASOF LEFT JOIN are there, no others"),
    }
}

/// A join by USING or NATURAL.
fn plan_join_by_names(
    left: LogicalPlan,
    right: LogicalPlan,
    operator: JoinOperator,
    context: &mut dyn RelationPlannerContext,
) -> Result<LogicalPlan> {
    let (join_type, constraint) = match operator {
        JoinOperator::Left(constraint) | JoinOperator::LeftOuter(constraint) => {
            (JoinType::Left, constraint)
        }
        JoinOperator::Right(constraint) | JoinOperator::RightOuter(constraint) => {
            (JoinType::Right, constraint)
        }
        JoinOperator::FullOuter(constraint) => (JoinType::Full, constraint),
        JoinOperator::Join(constraint) | JoinOperator::Inner(constraint) => {
            (JoinType::Inner, constraint)
        }
        _ => return not_impl_err!("such a join by USING"),
    };
    // A name of USING may bring the table that the column comes into (`upstream/scopes/naming.rs`).
    let names = match constraint {
        JoinConstraint::Using(names) => names
            .into_iter()
            .map(|name| {
                let name = context.object_name_to_table_reference(name)?;
                Ok((name.schema().map(str::to_owned), name.table().to_owned()))
            })
            .collect::<Result<Vec<_>>>()?,
        // `is_by_names` lets only USING and NATURAL through, so this is NATURAL.
        _ => using::common_names(&left, &right).into_iter().map(|name| (None, name)).collect(),
    };
    using::join_using(left, right, join_type, &names)
}

const FORM: &str = "write ASOF JOIN r ON l.k = r.k AND l.at >= r.at, with equalities and one comparison by >=, >, <= or <";

fn plan_asof(
    (left, right): (LogicalPlan, LogicalPlan),
    moments: Option<Expr>,
    constraint: JoinConstraint,
    is_outer: bool,
    context: &mut dyn RelationPlannerContext,
) -> Result<LogicalPlan> {
    let schema = left.schema().join(right.schema())?;
    let mut dropped = Vec::new();
    let conditions = match constraint {
        JoinConstraint::On(condition) => {
            split_conjunction_owned(context.sql_to_expr(condition, &schema)?)
        }
        JoinConstraint::None => Vec::new(),
        JoinConstraint::Using(names) if moments.is_some() => {
            let mut conditions = Vec::new();
            for name in names {
                let name = context.object_name_to_table_reference(name)?.table().to_owned();
                let column = |side: &LogicalPlan| -> Result<Column> {
                    Ok(Column::from(side.schema().qualified_field_with_unqualified_name(&name)?))
                };
                let other = column(&right)?;
                conditions.push(Expr::Column(column(&left)?).eq(Expr::Column(other.clone())));
                dropped.push(other);
            }
            conditions
        }
        _ => return plan_err!("ASOF JOIN: {FORM}"),
    };
    // ASOF finds the nearest row by one comparison: with two the nearest row is not defined.
    let (mut keys, mut by) = (Vec::new(), None);
    for condition in moments.into_iter().chain(conditions) {
        let sides = AsOfCondition::of(condition, &left, &right)?;
        match sides.op {
            Operator::Eq => keys.push((sides.left, sides.right)),
            Operator::Gt | Operator::GtEq | Operator::Lt | Operator::LtEq if by.is_none() => {
                by = Some((sides.op, (sides.left, sides.right)));
            }
            _ => {
                return plan_err!(
                    "ASOF JOIN: {FORM}; other conditions stand in WHERE or in a subquery"
                );
            }
        }
    }
    let Some(by) = by else { return plan_err!("ASOF JOIN: {FORM}") };
    // The node groups rows by keys: with a constant all are one group.
    if keys.is_empty() {
        keys.push((lit(0), lit(0)));
    }
    let node = AsOf::new((left, right), keys, by, is_outer)?;
    let plan = LogicalPlan::Extension(Extension { node: Arc::new(node) });
    if dropped.is_empty() {
        return Ok(plan);
    }
    let kept = plan.schema().columns().into_iter().filter(|column| !dropped.contains(column));
    let kept: Vec<Expr> = kept.map(Expr::Column).collect();
    LogicalPlanBuilder::from(plan).project(kept)?.build()
}

/// A comparison of a value of the left side with one of the right, of one type.
struct AsOfCondition {
    left: Expr,
    op: Operator,
    right: Expr,
}

impl AsOfCondition {
    fn of(condition: Expr, left: &LogicalPlan, right: &LogicalPlan) -> Result<Self> {
        let Expr::BinaryExpr(BinaryExpr { left: one, op, right: other }) = condition else {
            return plan_err!("ASOF JOIN: {FORM}; {condition} is in WHERE or in a subquery");
        };
        let is_of = |expr: &Expr, plan: &LogicalPlan| {
            let columns = expr.column_refs();
            !columns.is_empty() && columns.iter().all(|column| plan.schema().has_column(column))
        };
        let (left_value, op, right_value) = if is_of(&one, left) && is_of(&other, right) {
            (*one, op, *other)
        } else if let Some(op) = op.swap()
            && is_of(&one, right)
            && is_of(&other, left)
        {
            (*other, op, *one)
        } else {
            return plan_err!(
                "ASOF JOIN: {FORM}; each of them compares a value of the left table with one of the right"
            );
        };
        let (left_value, right_value) =
            in_common_type((left_value, left.schema()), (right_value, right.schema()))?;
        Ok(Self { left: left_value, op, right: right_value })
    }
}

fn in_common_type(
    (one, left): (Expr, &DFSchema),
    (other, right): (Expr, &DFSchema),
) -> Result<(Expr, Expr)> {
    let (of_one, of_other) = (one.get_type(left)?, other.get_type(right)?);
    if is_interval(&of_one) || is_interval(&of_other) {
        return Ok((as_length(one, &of_one), as_length(other, &of_other)));
    }
    if of_one == of_other {
        return Ok((one, other));
    }
    match (&of_one, &of_other) {
        (DataType::Date32, DataType::Timestamp(unit, None)) => {
            return Ok((first_moment(one, *unit), in_micros(other, *unit)));
        }
        (DataType::Timestamp(unit, None), DataType::Date32) => {
            return Ok((in_micros(one, *unit), first_moment(other, *unit)));
        }
        _ => {}
    }
    let Some(common) = common_type(&of_one, &of_other) else {
        return plan_err!(
            "ASOF JOIN: {of_one} and {of_other} cannot be compared: cast one of them"
        );
    };
    Ok((cast(one, &of_one, &common), cast(other, &of_other, &common)))
}

/// The first timestamp of a day, as one in microseconds, which reach to all days. Beside
/// nanoseconds it is one of these: a day outside of them is before or after all of them.
fn first_moment(day: Expr, unit: TimeUnit) -> Expr {
    let moment = cast(day, &DataType::Date32, &DataType::Timestamp(TimeUnit::Microsecond, None));
    match unit {
        TimeUnit::Nanosecond => round_moment(moment, unit, false),
        _ => moment,
    }
}

/// A timestamp in microseconds; one in nanoseconds stays as it is.
fn in_micros(timestamp: Expr, unit: TimeUnit) -> Expr {
    match unit {
        TimeUnit::Nanosecond => timestamp,
        _ => {
            let wanted = DataType::Timestamp(TimeUnit::Microsecond, None);
            cast(timestamp, &DataType::Timestamp(unit, None), &wanted)
        }
    }
}

/// The type that two are compared in. A decimal beside a double is a double.
fn common_type(one: &DataType, other: &DataType) -> Option<DataType> {
    let kinds = [one, other].map(NumberKind::of);
    if kinds.contains(&NumberKind::Decimal) && kinds.contains(&NumberKind::Float) {
        return Some(DataType::Float64);
    }
    comparison_coercion(one, other)
}

fn cast(expr: Expr, given: &DataType, wanted: &DataType) -> Expr {
    match given == wanted {
        true => expr,
        false => Expr::Cast(Cast::new(Box::new(expr), wanted.clone())),
    }
}

type SetOperation = fn(LogicalPlan, LogicalPlan, bool) -> Result<LogicalPlan>;

/// A set operation that counts: rows that are equal are numbered on each side, and with these
/// numbers each is there once.
fn plan_counting_set(
    left: LogicalPlan,
    right: LogicalPlan,
    operation: SetOperation,
) -> Result<LogicalPlan> {
    let names: Vec<String> =
        left.schema().fields().iter().map(|field| field.name().clone()).collect();
    if names.len() != right.schema().fields().len() {
        return plan_err!(
            "INTERSECT ALL and EXCEPT ALL take as many columns on both sides: {} and {} are given",
            names.len(),
            right.schema().fields().len()
        );
    }
    let mut types = Vec::new();
    for (one, other) in left.schema().fields().iter().zip(right.schema().fields()) {
        let (one, other) = (one.data_type(), other.data_type());
        match if one == other { Some(one.clone()) } else { common_type(one, other) } {
            Some(common) => types.push(common),
            None => return plan_err!("{one} and {other} cannot be compared: cast one of them"),
        }
    }
    // Columns are matched by position: a side may have two of one name, and the sides differ in
    // names.
    let numbered = |side: LogicalPlan| -> Result<LogicalPlan> {
        let columns = side.schema().columns().into_iter().zip(&types).enumerate();
        let columns = columns.map(|(place, (column, wanted))| -> Result<Expr> {
            let column = Expr::Column(column);
            let given = column.get_type(side.schema())?;
            Ok(cast(column, &given, wanted).alias(numbered_name(place)))
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let places: Vec<Expr> = (0..columns.len()).map(numbered_column).collect();
        // Rows of one partition are equal, so it does not matter in which order they are numbered.
        let number = row_number().partition_by(places.clone()).build()?;
        let copy = Expr::Column(Column::new_unqualified(number.schema_name().to_string()));
        LogicalPlanBuilder::from(side)
            .project(columns)?
            .window([number])?
            .project(places.into_iter().chain([copy.alias("_copy")]))?
            .build()
    };
    let all = operation(numbered(left)?, numbered(right)?, false)?;
    let named = names.iter().enumerate().map(|(place, name)| numbered_column(place).alias(name));
    LogicalPlanBuilder::from(all).project(named)?.build()
}

fn numbered_name(place: usize) -> String {
    format!("_{place}")
}

fn numbered_column(place: usize) -> Expr {
    Expr::Column(Column::new_unqualified(numbered_name(place)))
}

/// Each row with the items or members of a document of it.
fn plan_document_rows(
    left: LogicalPlan,
    name: &str,
    join: Join,
    context: &mut dyn RelationPlannerContext,
) -> Result<LogicalPlan> {
    use JoinOperator::{CrossJoin, Inner, Join as Plain};
    // Unnesting knows no condition and keeps no row without items: only a cross join is like that.
    let is_whole = match &join.join_operator {
        CrossJoin(JoinConstraint::None) => true,
        Inner(JoinConstraint::On(condition)) | Plain(JoinConstraint::On(condition)) => {
            condition.to_string().eq_ignore_ascii_case("true")
        }
        Inner(JoinConstraint::None) | Plain(JoinConstraint::None) => true,
        _ => false,
    };
    if !is_whole {
        return not_impl_err!(
            "{name} in FROM: write CROSS JOIN {name}(...), and conditions in WHERE; rows without any are kept by UNION ALL"
        );
    }
    let (arguments, alias) = match join.relation {
        TableFactor::Table { args: Some(arguments), alias, .. } => (arguments.args, alias),
        TableFactor::Function { args, alias, .. } => (args, alias),
        _ => return not_impl_err!("{name} in FROM"),
    };
    let [FunctionArg::Unnamed(FunctionArgExpr::Expr(document))] = arguments.as_slice() else {
        return plan_err!("write {name}(document): it takes one document");
    };
    let document = context.sql_to_expr(document.clone(), left.schema())?;
    let is_text = name.ends_with("_text");
    let has_names = name.contains("each");
    let function = match (has_names, is_text) {
        (true, false) => documents::ENTRIES,
        (true, true) => documents::TEXT_ENTRIES,
        (false, false) => documents::ITEMS,
        (false, true) => documents::TEXT_ITEMS,
    };
    let list = call(function, document)?.alias("_rows");
    let columns: Vec<Expr> = left.schema().columns().into_iter().map(Expr::Column).collect();
    let unnested = LogicalPlanBuilder::from(left)
        .project(columns.iter().cloned().chain([list]))?
        // A document that is NULL has no rows.
        .unnest_column_with_options(
            Column::new_unqualified("_rows"),
            UnnestOptions::new().with_preserve_nulls(false),
        )?;
    let row = || Expr::Column(Column::new_unqualified("_rows"));
    let value = |value: Expr| if is_text { Ok(value) } else { call("_as_json", value) };
    let made = match has_names {
        true => {
            vec![("key", get_field(row(), "key")), ("value", value(get_field(row(), "value"))?)]
        }
        false => vec![("value", value(row())?)],
    };
    let (table, names) = row_names(name, alias, context);
    let made = made.into_iter().enumerate().map(|(place, (own, expr))| {
        let given = names.get(place).map_or(own, String::as_str);
        expr.alias_qualified(Some(table.as_str()), given)
    });
    unnested.project(columns.into_iter().chain(made))?.build()
}

/// The name of the rows, and the names of their columns as far as they are given.
fn row_names(
    function: &str,
    alias: Option<TableAlias>,
    context: &mut dyn RelationPlannerContext,
) -> (String, Vec<String>) {
    match alias {
        None => (function.to_owned(), Vec::new()),
        Some(alias) => {
            let columns = alias.columns.into_iter();
            let columns = columns.map(|column| context.normalize_ident(column.name)).collect();
            (context.normalize_ident(alias.name), columns)
        }
    }
}

fn call(name: &str, argument: Expr) -> Result<Expr> {
    match documents::function(name) {
        Some(function) => Ok(Expr::ScalarFunction(ScalarFunction {
            func: Arc::new(function),
            args: vec![argument],
        })),
        None => not_impl_err!("{name}"),
    }
}
