//! Conditions on places in JSON columns, out of the expressions of a plan.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::{InList, ScalarFunction};
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator};
use tonnage::{ColumnType, Value};

use crate::access::{PlaceCondition, PlaceTest, Reading, SqlTable, value_of};
use crate::plan::key_set_of;

/// The conditions that follow from an expression, when it is one on a place.
pub(crate) fn places_of(table: &SqlTable, expr: &Expr) -> Option<Vec<PlaceCondition>> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => comparison(table, left, *op, right),
        Expr::Between(Between { expr, negated: false, low, high }) => {
            let low = comparison(table, expr, Operator::GtEq, low)?;
            let high = comparison(table, expr, Operator::LtEq, high)?;
            Some([low, high].concat())
        }
        Expr::InList(InList { expr, list, negated: false }) => place(table, expr)?
            .tested(PlaceTest::In(list.iter().map(value).collect::<Option<Vec<_>>>()?)),
        Expr::Not(inner) => place(table, inner)?.truth(false),
        Expr::Alias(alias) => places_of(table, &alias.expr),
        _ => {
            if let Some((tested, values)) = key_set_of(expr) {
                let values =
                    (0..values.len()).map(|row| value_of(values.slice(row, 1).as_ref()).ok());
                return place(table, tested)?
                    .tested(PlaceTest::In(values.collect::<Option<Vec<_>>>()?));
            }
            place(table, expr)?.truth(true)
        }
    }
}

fn comparison(
    table: &SqlTable,
    left: &Expr,
    op: Operator,
    right: &Expr,
) -> Option<Vec<PlaceCondition>> {
    if op == Operator::And {
        return Some([places_of(table, left)?, places_of(table, right)?].concat());
    }
    if op == Operator::Or {
        return either(places_of(table, left)?, places_of(table, right)?);
    }
    let (left, op, right) =
        if value(left).is_some() { (right, op.swap()?, left) } else { (left, op, right) };
    let (place, value) = (place(table, left)?, value(right)?);
    // The ends of ranges are taken in: numbers that differ far behind may be one and the same in an
    // index.
    place.tested(match op {
        Operator::Eq => PlaceTest::In(vec![value]),
        Operator::Gt | Operator::GtEq => PlaceTest::Low(value),
        Operator::Lt | Operator::LtEq => PlaceTest::High(value),
        _ => return None,
    })
}

/// Short lists are rewritten to `place = 1 OR place = 2` while planning.
fn either(
    mut left: Vec<PlaceCondition>,
    mut right: Vec<PlaceCondition>,
) -> Option<Vec<PlaceCondition>> {
    let (one, two) = (left.pop()?, right.pop()?);
    let is_same = one.column == two.column && one.path == two.path && one.reading == two.reading;
    let (PlaceTest::In(values), PlaceTest::In(others)) = (&one.test, &two.test) else {
        return None;
    };
    let test = PlaceTest::In([values.as_slice(), others].concat());
    (is_same && left.is_empty() && right.is_empty()).then(|| vec![PlaceCondition { test, ..one }])
}

/// A place, and how it is read.
struct Place {
    column: usize,
    path: Vec<String>,
    reading: Reading,
}

impl Place {
    fn tested(self, test: PlaceTest) -> Option<Vec<PlaceCondition>> {
        let Self { column, path, reading } = self;
        Some(vec![PlaceCondition { column, path, reading, test }])
    }

    /// The place as a condition by itself.
    fn truth(self, truth: bool) -> Option<Vec<PlaceCondition>> {
        if self.reading != Reading::Truth {
            return None;
        }
        self.tested(PlaceTest::In(vec![Value::Boolean(truth)]))
    }
}

/// The place that an expression reads.
fn place(table: &SqlTable, expr: &Expr) -> Option<Place> {
    let Expr::ScalarFunction(call) = unaliased(expr) else { return None };
    let reading = match call.func.name() {
        "json_get_str" => Reading::Text,
        "json_as_text" => Reading::AsText,
        "json_get_int" => Reading::Int,
        "json_get_float" => Reading::Float,
        "json_get_bool" => Reading::Truth,
        _ => return None,
    };
    let (column, path) = steps(table, call)?;
    Some(Place { column, path, reading })
}

/// The column that a call reaches into, and the names that lead to the place.
fn steps(table: &SqlTable, call: &ScalarFunction) -> Option<(usize, Vec<String>)> {
    let (document, names) = call.args.split_first()?;
    let (column, mut path) = match unaliased(document) {
        Expr::Column(column) => {
            let place = table.arrow.index_of(&column.name).ok()?;
            (table.schema().columns.get(place)?.column_type == ColumnType::Json)
                .then(|| (place, Vec::new()))?
        }
        Expr::ScalarFunction(inner) if inner.func.name() == "json_get" => steps(table, inner)?,
        _ => return None,
    };
    for name in names {
        let Expr::Literal(ScalarValue::Utf8(Some(name)), _) = unaliased(name) else { return None };
        // Such a name may be a place in an array, which an index does not know of.
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

fn value(expr: &Expr) -> Option<Value> {
    let Expr::Literal(scalar, _) = expr else { return None };
    if scalar.is_null() {
        return None;
    }
    value_of(scalar.to_array().ok()?.as_ref()).ok()
}
