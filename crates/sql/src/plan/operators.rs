//! Operators that the library lacks or understands otherwise: on documents, dates and intervals.

use arrow::datatypes::{DataType, Field, IntervalUnit, TimeUnit};
use datafusion::common::{
    Column, DFSchema, Result, ScalarValue, TableReference, not_impl_err, plan_err,
};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::planner::{
    ExprPlanner, PlannerResult, RawBinaryExpr, RawFieldAccessExpr,
};
use datafusion::logical_expr::{
    BinaryExpr, Cast, Expr, ExprSchemable, GetFieldAccess, Operator, lit,
};
use datafusion::sql::sqlparser::ast::BinaryOperator;
use tonnage::ColumnType;

use super::json_values::unify;
use super::texts::read_items;
use crate::documents;
use crate::functions::{over, times};

/// Comes before the planners of the library.
#[derive(Debug)]
pub(crate) struct OperatorPlanner;

impl ExprPlanner for OperatorPlanner {
    fn plan_binary_op(
        &self,
        expr: RawBinaryExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawBinaryExpr>> {
        let of_documents = match step(&expr) {
            Some(step) => Some(step),
            None => document_operator(&expr, schema)?,
        };
        let planned = of_documents
            .or_else(|| list_operator(&expr, schema))
            .or_else(|| difference_with_null(&expr, schema))
            .or_else(|| date_operator(&expr, schema))
            .or_else(|| interval_multiple(&expr, schema))
            .or_else(|| duration_comparison(&expr, schema));
        match planned {
            Some(planned) => Ok(PlannerResult::Planned(planned)),
            None => Ok(PlannerResult::Original(expr)),
        }
    }

    fn plan_field_access(
        &self,
        access: RawFieldAccessExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawFieldAccessExpr>> {
        if !is_json(&access.expr, schema) && steps_of(&access.expr).is_none() {
            return Ok(PlannerResult::Original(access));
        }
        let step = match access.field_access {
            GetFieldAccess::NamedStructField { name } => Expr::Literal(name, None),
            GetFieldAccess::ListIndex { key } => *key,
            GetFieldAccess::ListRange { .. } => {
                return plan_err!(
                    "a range of a document's items: unnest them by json_array_elements"
                );
            }
        };
        Ok(PlannerResult::Planned(json_part(access.expr, [step])))
    }

    fn plan_array_literal(
        &self,
        mut items: Vec<Expr>,
        schema: &DFSchema,
    ) -> Result<PlannerResult<Vec<Expr>>> {
        read_items(&mut items, schema)?;
        Ok(PlannerResult::Original(items))
    }

    fn plan_compound_identifier(
        &self,
        field: &Field,
        qualifier: Option<&TableReference>,
        names: &[String],
    ) -> Result<PlannerResult<Vec<Expr>>> {
        if ColumnType::of_arrow(field) != Some(ColumnType::Json) {
            return Ok(PlannerResult::Original(Vec::new()));
        }
        let column = Expr::Column(Column::from((qualifier, field)));
        let steps = names.iter().map(|name| lit(name.as_str()));
        Ok(PlannerResult::Planned(json_part(column, steps)))
    }
}

/// `doc->'a'` and `doc->>'a'`, named as they are written. The library's own planner names each
/// step, and then asks for the type of what has a name twice (DataFusion 55, `to_field`). Here the
/// last step alone has a name.
fn step(expr: &RawBinaryExpr) -> Option<Expr> {
    let RawBinaryExpr { op, left, right } = expr;
    let func = match op {
        BinaryOperator::Arrow | BinaryOperator::HashArrow => {
            datafusion_functions_json::udfs::json_get_udf()
        }
        BinaryOperator::LongArrow | BinaryOperator::HashLongArrow => {
            datafusion_functions_json::udfs::json_as_text_udf()
        }
        _ => return None,
    };
    let name = format!("{} {op} {}", written_name(left), written_name(right));
    let args = vec![left.clone().unalias_nested().data, right.clone()];
    Some(Expr::ScalarFunction(ScalarFunction { func, args }).alias(name))
}

/// A side of a step as the name of a column shows it.
fn written_name(expr: &Expr) -> String {
    match expr {
        Expr::Column(column) => column.name.clone(),
        Expr::Alias(alias) => alias.name.clone(),
        Expr::Cast(cast) => written_name(&cast.expr),
        Expr::Literal(value, _) => match value.try_as_str() {
            Some(Some(text)) => format!("'{text}'"),
            _ => value.to_string(),
        },
        expr => expr.to_string(),
    }
}

fn is_json(expr: &Expr, schema: &DFSchema) -> bool {
    expr.to_field(schema)
        .is_ok_and(|(_, field)| ColumnType::of_arrow(&field) == Some(ColumnType::Json))
}

/// A part of a document, as a document, under the name of the last step.
fn json_part(document: Expr, steps: impl IntoIterator<Item = Expr>) -> Expr {
    let mut args = match part(&document).or_else(|| steps_of(&document)) {
        Some(call) => call.args.clone(),
        None => vec![document.unalias_nested().data],
    };
    args.extend(steps);
    let name = match args.last() {
        Some(Expr::Literal(step, _)) => step.to_string(),
        _ => "part".to_owned(),
    };
    let func = datafusion_functions_json::udfs::json_get_json_udf();
    Expr::ScalarFunction(ScalarFunction { func, args }).alias(name)
}

/// A part of a document that is reached by points or brackets.
fn part(expr: &Expr) -> Option<&ScalarFunction> {
    named_call(expr, "json_get_json")
}

/// One that is reached by `->`.
fn steps_of(expr: &Expr) -> Option<&ScalarFunction> {
    named_call(expr, "json_get")
}

fn named_call<'e>(expr: &'e Expr, name: &str) -> Option<&'e ScalarFunction> {
    match expr {
        Expr::Alias(alias) => match alias.expr.as_ref() {
            Expr::ScalarFunction(call) if call.func.name() == name => Some(call),
            _ => None,
        },
        _ => None,
    }
}

fn call(name: &str, args: Vec<Expr>) -> Result<Expr> {
    match documents::function(name) {
        Some(function) => Ok(Expr::ScalarFunction(ScalarFunction { func: function.into(), args })),
        None => not_impl_err!("{name}"),
    }
}

fn is_text_literal(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Literal(
            ScalarValue::Utf8(_) | ScalarValue::LargeUtf8(_) | ScalarValue::Utf8View(_),
            _
        )
    )
}

fn document_operator(expr: &RawBinaryExpr, schema: &DFSchema) -> Result<Option<Expr>> {
    use BinaryOperator::{
        ArrowAt, AtArrow, Eq, Gt, GtEq, HashMinus, Lt, LtEq, Minus, NotEq, Question, QuestionAnd,
        QuestionPipe, StringConcat,
    };
    let RawBinaryExpr { op, left, right } = expr;
    // Operators are looked at before types, which cost a walk through the whole expression.
    if !matches!(
        op,
        ArrowAt
            | AtArrow
            | Eq
            | Gt
            | GtEq
            | HashMinus
            | Lt
            | LtEq
            | Minus
            | NotEq
            | Question
            | QuestionAnd
            | QuestionPipe
            | StringConcat
    ) {
        return Ok(None);
    }
    let (is_left, is_right) = (is_json(left, schema), is_json(right, schema));
    // Numbers, texts and lists have some of these operators too: those are the library's.
    if !is_left && !is_right {
        return Ok(None);
    }
    let both = || vec![left.clone(), right.clone()];
    // A text in quotes means a document beside one; a column of texts may hold anything.
    let document = |is: bool, other: &Expr| is || is_text_literal(other);
    Ok(Some(match op {
        AtArrow if document(is_right, right) => call("_json_contains", both())?,
        ArrowAt if document(is_left, left) => {
            call("_json_contains", vec![right.clone(), left.clone()])?
        }
        StringConcat if document(is_left, left) && document(is_right, right) => {
            call("_json_concat", both())?
        }
        Minus if is_left => call("_json_without", both())?,
        HashMinus => call("_json_without_path", both())?,
        Question if is_left => call("_json_has", both())?,
        QuestionPipe => call("_json_has_any", both())?,
        QuestionAnd => call("_json_has_all", both())?,
        Eq | NotEq | Gt | GtEq | Lt | LtEq => return document_comparison(expr, schema),
        _ => return Ok(None),
    }))
}

/// A document beside a value. Those that the planner can compare are rewritten later, with all
/// other comparisons (`json_values.rs`); a truth value beside a text is an error to it.
fn document_comparison(expr: &RawBinaryExpr, schema: &DFSchema) -> Result<Option<Expr>> {
    let (mut left, mut right) = (expr.left.clone(), expr.right.clone());
    if !unify(&mut [&mut left, &mut right], schema)? {
        return Ok(None);
    }
    let op = match expr.op {
        BinaryOperator::Eq => Operator::Eq,
        BinaryOperator::NotEq => Operator::NotEq,
        BinaryOperator::Gt => Operator::Gt,
        BinaryOperator::GtEq => Operator::GtEq,
        BinaryOperator::Lt => Operator::Lt,
        // In step with `document_operator`, which hands on these six operators alone.
        _ => Operator::LtEq,
    };
    Ok(Some(Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right)))))
}

/// A list and NULL, which adds no item to it: NULL means a list that is not there.
fn list_operator(expr: &RawBinaryExpr, schema: &DFSchema) -> Option<Expr> {
    let RawBinaryExpr { op, left, right } = expr;
    let is_list = |side: &Expr| side.get_type(schema).is_ok_and(|kind| kind.is_list());
    let is_null = |side: &Expr| matches!(side, Expr::Literal(value, _) if value.is_null());
    match op {
        BinaryOperator::StringConcat if is_list(left) && is_null(right) => Some(left.clone()),
        BinaryOperator::StringConcat if is_null(left) && is_list(right) => Some(right.clone()),
        _ => None,
    }
}

/// A day or a timestamp less NULL, or the other way round: nothing, of the type of a difference.
fn difference_with_null(expr: &RawBinaryExpr, schema: &DFSchema) -> Option<Expr> {
    let RawBinaryExpr { op: BinaryOperator::Minus, left, right } = expr else { return None };
    let other = match (left, right) {
        (Expr::Literal(ScalarValue::Null, _), other)
        | (other, Expr::Literal(ScalarValue::Null, _)) => other,
        _ => return None,
    };
    match other.get_type(schema).ok()? {
        DataType::Date32 => Some(lit(ScalarValue::Int64(None))),
        DataType::Timestamp(..) => Some(lit(ScalarValue::IntervalMonthDayNano(None))),
        _ => None,
    }
}

/// Dates and numbers of days. A cast has the name of what is cast, so the columns are named as they
/// are written.
fn date_operator(expr: &RawBinaryExpr, schema: &DFSchema) -> Option<Expr> {
    let RawBinaryExpr { op, left, right } = expr;
    let op = match op {
        BinaryOperator::Plus => Operator::Plus,
        BinaryOperator::Minus => Operator::Minus,
        _ => return None,
    };
    let is_date = |expr: &Expr| expr.get_type(schema).is_ok_and(|kind| kind == DataType::Date32);
    let is_whole = |expr: &Expr| expr.get_type(schema).is_ok_and(|kind| kind.is_integer());
    let cast = |expr: Expr, kind| Expr::Cast(Cast::new(Box::new(expr), kind));
    let days = |date: &Expr| cast(cast(date.clone(), DataType::Int32), DataType::Int64);
    let number = |expr: &Expr| cast(expr.clone(), DataType::Int64);
    let reckoned =
        |one, other| Expr::BinaryExpr(BinaryExpr::new(Box::new(one), op, Box::new(other)));
    let dated = |days| cast(cast(days, DataType::Int32), DataType::Date32);
    let moment = |date: &Expr| cast(date.clone(), DataType::Timestamp(TimeUnit::Microsecond, None));
    match (is_date(left), is_date(right)) {
        // The difference of two dates is a LONG, in step with `difference_with_null`.
        (true, true) if op == Operator::Minus => Some(reckoned(days(left), days(right))),
        (true, false) if is_whole(right) => Some(dated(reckoned(days(left), number(right)))),
        (false, true) if is_whole(left) && op == Operator::Plus => {
            Some(dated(reckoned(number(left), days(right))))
        }
        // The planner would give a day, and cut off what the interval has beside whole days.
        (true, false) if may_have_hours(right, schema) => {
            Some(reckoned(moment(left), right.clone()))
        }
        (false, true) if may_have_hours(left, schema) && op == Operator::Plus => {
            Some(reckoned(left.clone(), moment(right)))
        }
        _ => None,
    }
}

/// An interval, or the time between two timestamps, as many times as a number says.
fn interval_multiple(expr: &RawBinaryExpr, schema: &DFSchema) -> Option<Expr> {
    let RawBinaryExpr { op, left, right } = expr;
    let is_length = |expr: &Expr| {
        expr.get_type(schema)
            .is_ok_and(|kind| matches!(kind, DataType::Interval(_) | DataType::Duration(_)))
    };
    let is_number = |expr: &Expr| {
        matches!(expr, Expr::Placeholder(_))
            || expr.get_type(schema).is_ok_and(|kind| kind.is_numeric() || kind.is_null())
    };
    match op {
        BinaryOperator::Multiply if is_length(left) && is_number(right) => {
            Some(times(left.clone(), right.clone()))
        }
        BinaryOperator::Multiply if is_number(left) && is_length(right) => {
            Some(times(right.clone(), left.clone()))
        }
        BinaryOperator::Divide if is_length(left) && is_number(right) => {
            Some(over(left.clone(), right.clone()))
        }
        _ => None,
    }
}

/// The time between two timestamps beside a text, which means an interval.
fn duration_comparison(expr: &RawBinaryExpr, schema: &DFSchema) -> Option<Expr> {
    let RawBinaryExpr { op, left, right } = expr;
    let op = match op {
        BinaryOperator::Eq => Operator::Eq,
        BinaryOperator::NotEq => Operator::NotEq,
        BinaryOperator::Gt => Operator::Gt,
        BinaryOperator::GtEq => Operator::GtEq,
        BinaryOperator::Lt => Operator::Lt,
        BinaryOperator::LtEq => Operator::LtEq,
        _ => return None,
    };
    let is_span =
        |expr: &Expr| expr.get_type(schema).is_ok_and(|kind| matches!(kind, DataType::Duration(_)));
    let interval = |text: &Expr| {
        let kind = DataType::Interval(IntervalUnit::MonthDayNano);
        Expr::Cast(Cast::new(Box::new(text.clone()), kind))
    };
    let (left, right) = match (is_text_literal(left), is_text_literal(right)) {
        (false, true) if is_span(left) => (left.clone(), interval(right)),
        (true, false) if is_span(right) => (interval(left), right.clone()),
        _ => return None,
    };
    Some(Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right))))
}

/// Whether an interval may lead to a time within a day: one that is written does if it has hours or
/// less.
fn may_have_hours(interval: &Expr, schema: &DFSchema) -> bool {
    match interval {
        Expr::Literal(ScalarValue::IntervalMonthDayNano(Some(interval)), _) => {
            interval.nanoseconds != 0
        }
        Expr::Negative(interval) => may_have_hours(interval, schema),
        interval => interval
            .get_type(schema)
            .is_ok_and(|kind| matches!(kind, DataType::Interval(_) | DataType::Duration(_))),
    }
}

#[cfg(test)]
mod tests {
    use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
    use datafusion::logical_expr::col;

    use super::*;

    #[test]
    fn of_steps_in_a_document_the_last_alone_has_a_name() {
        let op = BinaryOperator::Arrow;
        let next =
            |left, _| step(&RawBinaryExpr { op: op.clone(), left, right: lit("a") }).unwrap();
        let steps = (0..4).fold(col("doc"), next);
        let mut names = Vec::new();
        let walked = steps.apply(|part| {
            if let Expr::Alias(alias) = part {
                names.push(alias.name.clone());
            }
            Ok(TreeNodeRecursion::Continue)
        });
        walked.unwrap();
        assert_eq!(names, ["doc -> 'a' -> 'a' -> 'a' -> 'a'"]);
    }
}
