//! Conditions on JSON paths, taken from the expressions of a plan.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::{InList, ScalarFunction};
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator};
use tonnage::{ColumnType, Value};

use crate::access::{JsonPathCondition, JsonPathTest, JsonType, SqlTable, value_of};
use crate::plan::{ONE_DOUBLE, key_set_of};

/// The conditions that follow from an expression, when it is one on a path.
pub(crate) fn json_conditions_of(table: &SqlTable, expr: &Expr) -> Option<Vec<JsonPathCondition>> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => comparison(table, left, *op, right),
        Expr::Between(Between { expr, negated: false, low, high }) => {
            let low = comparison(table, expr, Operator::GtEq, low)?;
            let high = comparison(table, expr, Operator::LtEq, high)?;
            Some([low, high].concat())
        }
        Expr::InList(InList { expr, list, negated: false }) => column_path(table, expr)?
            .tested(JsonPathTest::In(list.iter().map(literal_value).collect::<Option<Vec<_>>>()?)),
        Expr::Not(inner) => column_path(table, inner)?.truth(false),
        Expr::Alias(alias) => json_conditions_of(table, &alias.expr),
        _ => {
            if let Some((tested, values)) = key_set_of(expr) {
                let values =
                    (0..values.len()).map(|row| value_of(values.slice(row, 1).as_ref()).ok());
                return column_path(table, tested)?
                    .tested(JsonPathTest::In(values.collect::<Option<Vec<_>>>()?));
            }
            column_path(table, expr)?.truth(true)
        }
    }
}

fn comparison(
    table: &SqlTable,
    left: &Expr,
    op: Operator,
    right: &Expr,
) -> Option<Vec<JsonPathCondition>> {
    if op == Operator::And {
        return Some(
            [json_conditions_of(table, left)?, json_conditions_of(table, right)?].concat(),
        );
    }
    // A row may meet either side of an OR, so the condition of one side alone would miss rows.
    if op == Operator::Or {
        return union_of_values(
            json_conditions_of(table, left)?,
            json_conditions_of(table, right)?,
        );
    }
    let (left, op, right) =
        if literal_value(left).is_some() { (right, op.swap()?, left) } else { (left, op, right) };
    let (place, value) = (column_path(table, left)?, literal_value(right)?);
    // The ends of ranges are taken in: numbers that differ in late digits may be one and the same
    // in an index.
    place.tested(match op {
        Operator::Eq => JsonPathTest::In(vec![value]),
        Operator::Gt | Operator::GtEq => JsonPathTest::Low(value),
        Operator::Lt | Operator::LtEq => JsonPathTest::High(value),
        _ => return None,
    })
}

/// Short lists are rewritten to `place = 1 OR place = 2` while planning.
fn union_of_values(
    mut left: Vec<JsonPathCondition>,
    mut right: Vec<JsonPathCondition>,
) -> Option<Vec<JsonPathCondition>> {
    let (one, two) = (left.pop()?, right.pop()?);
    let is_same = one.column == two.column && one.path == two.path && one.reading == two.reading;
    let (JsonPathTest::In(values), JsonPathTest::In(others)) = (&one.test, &two.test) else {
        return None;
    };
    let test = JsonPathTest::In([values.as_slice(), others].concat());
    (is_same && left.is_empty() && right.is_empty())
        .then(|| vec![JsonPathCondition { test, ..one }])
}

/// A path, and how it is read.
struct ColumnPath {
    column: usize,
    path: Vec<String>,
    reading: JsonType,
}

impl ColumnPath {
    fn tested(self, test: JsonPathTest) -> Option<Vec<JsonPathCondition>> {
        let Self { column, path, reading } = self;
        Some(vec![JsonPathCondition { column, path, reading, test }])
    }

    /// The path as a condition by itself.
    fn truth(self, truth: bool) -> Option<Vec<JsonPathCondition>> {
        if self.reading != JsonType::Boolean {
            return None;
        }
        self.tested(JsonPathTest::In(vec![Value::Boolean(truth)]))
    }
}

/// The path that an expression reads.
fn column_path(table: &SqlTable, expr: &Expr) -> Option<ColumnPath> {
    let Expr::ScalarFunction(call) = without_canonical_call(unaliased(expr)) else { return None };
    let reading = match call.func.name() {
        "json_get_str" => JsonType::Text,
        "json_as_text" => JsonType::AsText,
        "json_get_int" => JsonType::Int,
        "json_get_float" => JsonType::Float,
        "json_get_bool" => JsonType::Boolean,
        _ => return None,
    };
    let (column, path) = path_steps(table, call)?;
    Some(ColumnPath { column, path, reading })
}

/// The double that a call gives the one form of.
fn without_canonical_call(expr: &Expr) -> &Expr {
    match expr {
        Expr::ScalarFunction(call) if call.func.name() == ONE_DOUBLE => {
            call.args.first().map_or(expr, unaliased)
        }
        expr => expr,
    }
}

/// The column that a call reaches into, and the names that lead to the path.
fn path_steps(table: &SqlTable, call: &ScalarFunction) -> Option<(usize, Vec<String>)> {
    let (document, names) = call.args.split_first()?;
    let (column, mut path) = match unaliased(document) {
        Expr::Column(column) => {
            let place = table.arrow.index_of(&column.name).ok()?;
            (table.schema().columns.get(place)?.column_type == ColumnType::Json)
                .then(|| (place, Vec::new()))?
        }
        Expr::ScalarFunction(inner) if inner.func.name() == "json_get" => path_steps(table, inner)?,
        _ => return None,
    };
    for name in names {
        let Expr::Literal(ScalarValue::Utf8(Some(name)), _) = unaliased(name) else { return None };
        // Such a name may be an index into an array, which an index does not know of.
        if name.parse::<isize>().is_ok() {
            return None;
        }
        path.push(name.clone());
    }
    (!path.is_empty()).then_some((column, path))
}

fn unaliased(expr: &Expr) -> &Expr {
    match expr {
        Expr::Alias(alias) => unaliased(&alias.expr),
        expr => expr,
    }
}

fn literal_value(expr: &Expr) -> Option<Value> {
    let Expr::Literal(scalar, _) = expr else { return None };
    if scalar.is_null() {
        return None;
    }
    value_of(scalar.to_array().ok()?.as_ref()).ok()
}
