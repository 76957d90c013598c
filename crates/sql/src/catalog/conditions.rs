//! Conditions on single columns, taken from the expressions of a plan.

use arrow::array::ArrayRef;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Like, Operator};

use crate::access::{ColumnBound, ColumnCondition, ColumnTest, SqlTable};
use crate::plan::{key_set_of, list_values_as};

/// The conditions that an expression consists of, when it consists of nothing else.
pub(crate) fn condition_of(table: &SqlTable, expr: &Expr) -> Option<Vec<ColumnCondition>> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => comparison(table, left, *op, right),
        Expr::Between(Between { expr, negated: false, low, high }) => {
            let low = comparison(table, expr, Operator::GtEq, low)?;
            let high = comparison(table, expr, Operator::LtEq, high)?;
            Some([low, high].concat())
        }
        Expr::InList(InList { expr, list, negated: false }) => {
            let column = column_index(table, expr)?;
            let values = list.iter().map(literal).collect::<Option<Vec<_>>>()?;
            let values = ScalarValue::iter_to_array(values.into_iter().cloned()).ok()?;
            typed_condition(table, column, values, ColumnTest::In)
        }
        Expr::IsNull(inner) => {
            let column = column_index(table, inner)?;
            Some(vec![ColumnCondition { column, test: ColumnTest::Null }])
        }
        Expr::Like(like) => prefix_condition(table, like),
        // A column of truth values is a condition by itself.
        Expr::Column(_) => boolean_condition(table, expr, true),
        Expr::Not(inner) if matches!(inner.as_ref(), Expr::Column(_)) => {
            boolean_condition(table, inner, false)
        }
        _ => {
            let (tested, values) = key_set_of(expr)?;
            let column = column_index(table, tested)?;
            // A list that the type cannot read stays above, where the call reports the error.
            let values = list_values_as(values, table.arrow.field(column).data_type()).ok()?;
            typed_condition(table, column, values, ColumnTest::In)
        }
    }
}

fn boolean_condition(table: &SqlTable, expr: &Expr, value: bool) -> Option<Vec<ColumnCondition>> {
    typed_condition(
        table,
        column_index(table, expr)?,
        ScalarValue::Boolean(Some(value)).to_array().ok()?,
        ColumnTest::In,
    )
}

fn comparison(
    table: &SqlTable,
    left: &Expr,
    op: Operator,
    right: &Expr,
) -> Option<Vec<ColumnCondition>> {
    if op == Operator::And {
        let (left, right) = (condition_of(table, left)?, condition_of(table, right)?);
        return Some([left, right].concat());
    }
    if op == Operator::Or {
        return union_of_values(condition_of(table, left)?, condition_of(table, right)?);
    }
    // An operator that has no mirror is not a condition on the column either.
    let (left, op, right) =
        if literal(left).is_some() { (right, op.swap()?, left) } else { (left, op, right) };
    let column = column_index(table, left)?;
    let value = literal(right)?;
    // As a bound NULL would be ordered among the values, though no row compares with it.
    if value.is_null() {
        return None;
    }
    let value = value.to_array().ok()?;
    let low = |inclusive| move |value| ColumnTest::Low(ColumnBound { value, inclusive });
    let high = |inclusive| move |value| ColumnTest::High(ColumnBound { value, inclusive });
    match op {
        Operator::Eq => typed_condition(table, column, value, ColumnTest::In),
        Operator::GtEq => typed_condition(table, column, value, low(true)),
        Operator::Gt => typed_condition(table, column, value, low(false)),
        Operator::LtEq => typed_condition(table, column, value, high(true)),
        Operator::Lt => typed_condition(table, column, value, high(false)),
        _ => None,
    }
}

/// `a LIKE 'x%'`: all texts from `x` up to the first one after those that begin so.
fn prefix_condition(table: &SqlTable, like: &Like) -> Option<Vec<ColumnCondition>> {
    if like.negated || like.case_insensitive || like.escape_char.is_some() {
        return None;
    }
    let column = column_index(table, &like.expr)?;
    let beginning = literal(&like.pattern)?.try_as_str()??.strip_suffix('%')?;
    if beginning.is_empty() || beginning.contains(['%', '_', '\\']) {
        return None;
    }
    let bound = |text: &str, inclusive| {
        let value = ScalarValue::Utf8(Some(text.to_owned())).to_array().ok()?;
        Some(ColumnBound { value, inclusive })
    };
    let low = bound(beginning, true)?;
    let mut conditions =
        typed_condition(table, column, low.value.clone(), |_| ColumnTest::Low(low))?;
    if let Some(behind) = prefix_end(beginning) {
        let high = bound(&behind, false)?;
        conditions.push(ColumnCondition { column, test: ColumnTest::High(high) });
    }
    Some(conditions)
}

/// The first text after all that begin with this one; none after the last characters of all.
fn prefix_end(beginning: &str) -> Option<String> {
    let mut text = beginning.to_owned();
    while let Some(last) = text.pop() {
        let next = match last {
            '\u{D7FF}' => Some('\u{E000}'),
            last => char::from_u32(u32::from(last) + 1),
        };
        if let Some(next) = next {
            text.push(next);
            return Some(text);
        }
    }
    None
}

/// `a = 1 OR a = 2`: short lists are rewritten to that while planning.
fn union_of_values(
    left: Vec<ColumnCondition>,
    right: Vec<ColumnCondition>,
) -> Option<Vec<ColumnCondition>> {
    let [ColumnCondition { column, test: ColumnTest::In(values) }] = left.as_slice() else {
        return None;
    };
    let [ColumnCondition { column: other, test: ColumnTest::In(others) }] = right.as_slice() else {
        return None;
    };
    let values = arrow::compute::concat(&[values.as_ref(), others.as_ref()]).ok()?;
    (column == other)
        .then(|| vec![ColumnCondition { column: *column, test: ColumnTest::In(values) }])
}

/// A condition whose values are of the column's own type: others are compared after a conversion
/// that keys know nothing of.
fn typed_condition(
    table: &SqlTable,
    column: usize,
    values: ArrayRef,
    test: impl FnOnce(ArrayRef) -> ColumnTest,
) -> Option<Vec<ColumnCondition>> {
    (values.data_type() == table.arrow.field(column).data_type())
        .then(|| vec![ColumnCondition { column, test: test(values) }])
}

fn column_index(table: &SqlTable, expr: &Expr) -> Option<usize> {
    let Expr::Column(column) = expr else { return None };
    let place = table.arrow.index_of(&column.name).ok()?;
    (place < table.schema().columns.len()).then_some(place)
}

fn literal(expr: &Expr) -> Option<&ScalarValue> {
    match expr {
        Expr::Literal(value, _) => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::prefix_end;

    #[test]
    fn a_prefix_ends_before_the_next_text() {
        let next = |text| prefix_end(text).unwrap();
        assert_eq!(next("ab"), "ac");
        assert_eq!(next("a\u{7F}"), "a\u{80}");
        assert_eq!(next("\u{D7FF}"), "\u{E000}");
        assert_eq!(next("a\u{10FFFF}"), "b");
        assert!(prefix_end("\u{10FFFF}").is_none());
    }
}
