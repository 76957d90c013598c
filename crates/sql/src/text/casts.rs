//! Rewrites casts and typed literals that the planner would take less exactly than written.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    CastKind, CharacterLength, DataType, ExactNumberInfo, Expr, TimezoneInfo, TypedString,
    UnaryOperator, Value, ValueWithSpan, Values, VisitMut,
};
use tonnage::{ColumnType, Error};

use super::call;
use super::walk::{Rewriter, walk_mut};

/// A cast or a typed literal, written so that it means to the planner what it says.
pub(super) fn rewrite_cast(expr: &mut Expr) {
    // First of all: what becomes a call has no type left to be read.
    if let Some(call) = maker_call(expr) {
        *expr = call;
        return;
    }
    match expr {
        Expr::Cast { data_type, expr: cast, .. } if text_of(cast).is_some_and(is_whole_moment) => {
            widen(data_type)
        }
        Expr::TypedString(TypedString { data_type, value, .. })
            if text_of_value(value).is_some_and(is_whole_moment) =>
        {
            widen(data_type);
        }
        Expr::Cast { data_type, .. } => {
            if let Some(known) = own_type(data_type) {
                *data_type = known;
            }
            if let Some(length) = length_of(data_type) {
                // A cast to a length cuts the text, as in PostgreSQL.
                *data_type = DataType::Varchar(None);
                let whole = std::mem::replace(expr, Expr::value(Value::Null));
                *expr =
                    call("left", [whole, Expr::value(Value::Number(length.to_string(), false))]);
            }
        }
        _ => {}
    }
}

/// Whether this is a cast that becomes a call.
pub(super) fn is_call(expr: &Expr) -> bool {
    matches!(expr, Expr::Cast { data_type, .. } if makers_of(data_type).is_some())
}

/// A value of a type that the planner has no casts to, as a call of what makes it.
fn maker_call(expr: &mut Expr) -> Option<Expr> {
    match expr {
        Expr::Cast { kind, data_type, expr: cast, .. } => {
            let (strict, lenient) = makers_of(data_type)?;
            let name = match kind {
                CastKind::TryCast | CastKind::SafeCast => lenient,
                CastKind::Cast | CastKind::DoubleColon => strict,
            };
            let value = std::mem::replace(cast.as_mut(), Expr::value(Value::Null));
            Some(call(name, [value]))
        }
        Expr::TypedString(TypedString { data_type, value, .. }) => {
            Some(call(makers_of(data_type)?.0, [Expr::Value(value.clone())]))
        }
        _ => None,
    }
}

/// The functions after CAST and TRY_CAST to such a type.
fn makers_of(data_type: &DataType) -> Option<(&'static str, &'static str)> {
    match data_type {
        DataType::JSON | DataType::JSONB => Some(("_json", "_try_json")),
        DataType::Uuid => Some(("_uuid", "_try_uuid")),
        DataType::Custom(name, _) => geo_maker(&name.to_string()),
        _ => None,
    }
}

/// Places have no lenient cast: a geometry and a geography differ by name alone.
fn geo_maker(name: &str) -> Option<(&'static str, &'static str)> {
    match name.to_ascii_uppercase().as_str() {
        "GEOMETRY" => Some(("_geometry", "_geometry")),
        "GEOGRAPHY" => Some(("_geography", "_geography")),
        _ => None,
    }
}

/// What the planner calls a type that only tables have by that name.
fn own_type(data_type: &DataType) -> Option<DataType> {
    match data_type {
        DataType::Decimal(ExactNumberInfo::None)
        | DataType::Numeric(ExactNumberInfo::None)
        | DataType::Dec(ExactNumberInfo::None) => {
            return Some(DataType::Decimal(ExactNumberInfo::PrecisionAndScale(38, 9)));
        }
        DataType::Blob(None) | DataType::Binary(None) => return Some(DataType::Bytea),
        _ => {}
    }
    let DataType::Custom(name, arguments) = data_type else { return None };
    let digits = arguments.iter().map(|digits| digits.parse().ok());
    match (name.to_string().to_ascii_uppercase().as_str(), digits.collect::<Option<Vec<u64>>>()?) {
        ("LONG", digits) if digits.is_empty() => Some(DataType::BigInt(None)),
        ("NUMBER", digits) => Some(DataType::Decimal(match digits.as_slice() {
            [] => ExactNumberInfo::PrecisionAndScale(38, 9),
            [precision] => ExactNumberInfo::Precision(*precision),
            [precision, scale] => {
                ExactNumberInfo::PrecisionAndScale(*precision, i64::try_from(*scale).ok()?)
            }
            _ => return None,
        })),
        _ => None,
    }
}

/// The most characters that a type holds; the planner would not look at it.
fn length_of(data_type: &DataType) -> Option<u64> {
    use DataType::{Char, CharVarying, Character, CharacterVarying, Nvarchar, Varchar};
    let (Character(length)
    | Char(length)
    | CharacterVarying(length)
    | CharVarying(length)
    | Varchar(length)
    | Nvarchar(length)) = data_type
    else {
        return None;
    };
    match length {
        Some(CharacterLength::IntegerLength { length, .. }) => Some(*length),
        _ => None,
    }
}

/// The planner counts nanoseconds, which reach from 1677 to 2262; microseconds reach over all
/// years.
fn widen(data_type: &mut DataType) {
    if let DataType::Timestamp(
        precision @ None,
        TimezoneInfo::None | TimezoneInfo::WithoutTimeZone,
    ) = data_type
    {
        *precision = Some(6);
    }
}

fn text_of(expr: &Expr) -> Option<&str> {
    if let Expr::Value(value) = expr { text_of_value(value) } else { None }
}

fn text_of_value(value: &ValueWithSpan) -> Option<&str> {
    if let Value::SingleQuotedString(text) = &value.value { Some(text) } else { None }
}

/// Whether a text is a timestamp that microseconds hold.
fn is_whole_moment(text: &str) -> bool {
    let count = |precision| match tonnage::Value::parse(text, ColumnType::Timestamp(precision)) {
        Ok(tonnage::Value::Timestamp { value, .. }) => Some(value),
        _ => None,
    };
    count(6).is_some_and(|whole| count(9).is_none_or(|fine| Some(fine) == whole.checked_mul(1_000)))
}

/// A number with an exponent is an approximate one, whatever the others are.
pub(super) fn approximate(expr: &mut Expr) {
    if let Expr::Value(ValueWithSpan { value: Value::Number(digits, _), .. }) = expr
        && digits.contains(['e', 'E'])
    {
        *expr = double(digits.clone());
    }
}

/// Makes doubles of the literals with a point in a part of the statement whose types must not grow.
pub(super) fn approximate_all(part: &mut impl VisitMut) {
    struct DoubleWriter;
    impl Rewriter for DoubleWriter {
        fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
            if let Expr::Value(ValueWithSpan { value: Value::Number(digits, _), .. }) = expr
                && digits.contains(['.', 'e', 'E'])
            {
                *expr = double(digits.clone());
            }
            ControlFlow::Continue(())
        }
    }
    let _ = walk_mut(part, &mut DoubleWriter);
}

/// In columns of VALUES with an approximate number all numbers are such.
pub(super) fn approximate_columns(values: &mut Values) {
    let is_approximate = |cell: &Expr| {
        let is_marked = |digits: &str| digits.contains(['e', 'E']);
        matches!(signed(cell), Expr::Value(ValueWithSpan { value: Value::Number(digits, _), .. }) if is_marked(digits))
    };
    let width = values.rows.first().map_or(0, |row| row.content.len());
    for place in 0..width {
        if values.rows.iter().any(|row| row.content.get(place).is_some_and(is_approximate)) {
            values
                .rows
                .iter_mut()
                .filter_map(|row| row.content.get_mut(place))
                .for_each(approximate_all);
        }
    }
}

/// The number after a sign.
pub(crate) fn signed(expr: &Expr) -> &Expr {
    match expr {
        Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr } => expr,
        expr => expr,
    }
}

/// `CAST('digits' AS DOUBLE)`
fn double(digits: String) -> Expr {
    as_double(Expr::value(Value::SingleQuotedString(digits)))
}

/// `CAST(expression AS DOUBLE)`
pub(crate) fn as_double(expr: Expr) -> Expr {
    let expr = Box::new(expr);
    Expr::Cast {
        kind: CastKind::Cast,
        expr,
        data_type: DataType::DoublePrecision,
        array: false,
        format: None,
    }
}
