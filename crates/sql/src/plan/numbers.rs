//! Decimals among other numbers.
//!
//! A literal with a point is a decimal, and exact. The planner would make a decimal of every double
//! that meets one. Doubles do not survive that: they have digits that the decimal has not, and
//! `NaN`. So here a decimal that meets a double becomes a double, as in other databases:
//!
//! 1. Compared or computed with a double, in one list, CASE, call or union with one, a decimal
//!    becomes a double. A literal beside a FLOAT becomes a FLOAT.
//! 2. A literal that is compared with text becomes a double, for the text may be any number.
//! 3. A text beside decimals is the number that it spells (`texts.rs`).
//! 4. A whole literal that is compared with whole numbers becomes one of them: `k = 5.0` is
//!    `k = 5`.
//! 5. A division of decimals is one of doubles. The planner would cut its result after a few
//!    digits.
//! 6. A decimal of 128 bits beside one of 256 becomes one of 256, with its own digits. The planner
//!    would widen both to a type that holds either, and refuse more than 76 digits, such as a
//!    literal `1.5` beside NUMBER(76). A literal that is compared with a column of 256 bits gets
//!    the type of the column if that holds it.
//! 7. A count such as `row_number()`, which has no sign, becomes a LONG among whole numbers. The
//!    planner would make decimals of them, whose division has a fraction.

use arrow::datatypes::{
    DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType, Decimal256Type, DecimalType, i256,
};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::expr::{AggregateFunction, InList, ScalarFunction, WindowFunction};
use datafusion::logical_expr::{Between, BinaryExpr, Case, Cast, Expr, ExprSchemable, Operator};

/// What kind of number a type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberKind {
    Whole,
    Decimal,
    Float,
    Text,
    Other,
}

impl NumberKind {
    pub(super) fn of(data_type: &DataType) -> Self {
        match data_type {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => NumberKind::Text,
            data_type if data_type.is_decimal() => NumberKind::Decimal,
            data_type if data_type.is_floating() => NumberKind::Float,
            data_type if data_type.is_integer() => NumberKind::Whole,
            _ => NumberKind::Other,
        }
    }
}

fn kind_of(expr: &Expr, schema: &DFSchema) -> NumberKind {
    expr.get_type(schema).map_or(NumberKind::Other, |data_type| NumberKind::of(&data_type))
}

/// An expression whose parts are done.
pub(super) fn unify_numbers(expr: Expr, schema: &DFSchema) -> Transformed<Expr> {
    let mut expr = expr;
    // The functions below rewrite, and answer whether they did. Where two must run, the second
    // is left of `||`: on the right it would be passed by.
    let changed = match &mut expr {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Divide, right }) => {
            let is_signed = sign_counts(&mut [left.as_mut(), right.as_mut()], schema);
            divide_as_doubles(left, right, schema) || is_signed
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_compared(*op) => {
            unify_compared(&mut [left, right], schema)
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_arithmetic(*op) => {
            let is_signed = sign_counts(&mut [left.as_mut(), right.as_mut()], schema);
            unify_parts(&mut [left, right], schema) || is_signed
        }
        Expr::InList(InList { expr, list, .. }) => {
            let mut parts: Vec<&mut Expr> = std::iter::once(expr.as_mut()).chain(list).collect();
            unify_compared(&mut parts, schema)
        }
        Expr::Between(Between { expr, low, high, .. }) => {
            unify_compared(&mut [expr, low, high], schema)
        }
        Expr::Case(case) => unify_case(case, schema),
        Expr::ScalarFunction(ScalarFunction { args, .. }) => unify_arguments(args, schema),
        Expr::AggregateFunction(AggregateFunction { func, params }) => {
            let is_share = func.name().contains("percentile") || func.name().contains("quantile");
            // `||` leaves out `unify_arguments`: beside a share that is a double it would make
            // doubles of decimals.
            is_share && literals_to_doubles(&mut params.args)
                || unify_arguments(&mut params.args, schema)
        }
        Expr::WindowFunction(function) => {
            let WindowFunction { params, .. } = function.as_mut();
            unify_arguments(&mut params.args, schema)
        }
        Expr::Cast(Cast { expr: inner, field })
            if *field.data_type() == DataType::Float64 && literal_number(inner).is_some() =>
        {
            expr = to_double(std::mem::take(inner.as_mut()));
            true
        }
        _ => false,
    };
    if changed { Transformed::yes(expr) } else { Transformed::no(expr) }
}

/// Whether an operator compares its two sides.
pub(crate) fn is_compared(op: Operator) -> bool {
    matches!(
        op,
        Operator::Eq
            | Operator::NotEq
            | Operator::Lt
            | Operator::LtEq
            | Operator::Gt
            | Operator::GtEq
            | Operator::IsDistinctFrom
            | Operator::IsNotDistinctFrom
    )
}

fn is_arithmetic(op: Operator) -> bool {
    matches!(op, Operator::Plus | Operator::Minus | Operator::Multiply | Operator::Modulo)
}

/// Values that are compared with each other.
fn unify_compared(parts: &mut [&mut Expr], schema: &DFSchema) -> bool {
    let is_fitted = fit_wide_decimals(parts, schema);
    unify_kinds(parts, schema) || is_fitted
}

/// The number that a text says, as a literal of as many digits; nothing for a text that says none,
/// or one of more than 76 digits.
pub(super) fn decimal_of_text(text: &str) -> Option<ScalarValue> {
    DecimalLiteral::parse(text)?.decimal()
}

/// The digits of a number that a text says in a decimal of that many: nothing if it does not hold
/// the number as it is, and nothing at all for a text that says none.
pub(super) fn digits_of_text(text: &str, precision: u8, scale: i8) -> Option<Option<i256>> {
    let number = DecimalLiteral::parse(text)?;
    Some(number.digits_in(precision, scale))
}

/// Literals beside decimals of 256 bits of one type as that type, where it holds them: the planner
/// would widen the column to what holds any whole number, and not look into keys and indexes.
fn fit_wide_decimals(parts: &mut [&mut Expr], schema: &DFSchema) -> bool {
    let mut types = parts
        .iter()
        .filter(|part| !matches!(part, Expr::Literal(..)))
        .map(|part| part.get_type(schema).ok());
    let Some(Some(DataType::Decimal256(precision, scale))) = types.next() else { return false };
    if !types.all(|other| other == Some(DataType::Decimal256(precision, scale))) {
        return false;
    }
    let mut changed = false;
    for part in parts.iter_mut() {
        if let Some(digits) = any_number(part).and_then(|number| number.digits_in(precision, scale))
        {
            let literal = ScalarValue::Decimal256(Some(digits), precision, scale);
            **part = Expr::Literal(literal, None);
            changed = true;
        }
    }
    changed
}

fn unify_kinds(parts: &mut [&mut Expr], schema: &DFSchema) -> bool {
    if !parts.iter().any(|part| literal_number(part).is_some()) {
        return unify_parts(parts, schema);
    }
    let kinds: Vec<NumberKind> = parts.iter().map(|part| kind_of(part, schema)).collect();
    let is_narrow = parts
        .iter()
        .any(|part| part.get_type(schema).is_ok_and(|data_type| data_type == DataType::Float32));
    let is_text = |(part, kind): (&&mut Expr, &NumberKind)| {
        *kind == NumberKind::Text && !matches!(part, Expr::Literal(..))
    };
    let others = || parts.iter().zip(&kinds).filter(|(part, _)| literal_number(part).is_none());
    let columns = || parts.iter().zip(&kinds).filter(|(part, _)| any_number(part).is_none());
    // A FLOAT is read from the digits: by way of a double it would be rounded twice. A whole number
    // among the literals is one of them, in `f IN (0.1, 5)`.
    if is_narrow && columns().all(|(_, kind)| *kind == NumberKind::Float) {
        for part in parts.iter_mut() {
            let float = any_number(part).and_then(|value| value.text().parse().ok());
            if let Some(float) = float {
                **part = Expr::Literal(ScalarValue::Float32(Some(float)), None);
            }
        }
        return true;
    }
    if parts.iter().zip(&kinds).any(is_text) {
        parts.iter_mut().for_each(|part| replace(part, |value| Some(value.double())));
        return true;
    }
    if others().all(|(_, kind)| *kind == NumberKind::Whole) && others().next().is_some() {
        let mut changed = false;
        // `k = 5.5` keeps its decimal: no whole number equals it, and rounding would find one.
        for part in parts
            .iter_mut()
            .filter(|part| literal_number(part).is_some_and(|value| value.whole().is_some()))
        {
            replace(part, |value| value.whole().map(|whole| ScalarValue::Int64(Some(whole))));
            changed = true;
        }
        return changed;
    }
    unify_parts(parts, schema)
}

/// Values of which decimals become doubles when there is a double among them.
fn unify_parts(parts: &mut [&mut Expr], schema: &DFSchema) -> bool {
    let is_widened = widen_decimals(parts, schema);
    let mut parts: Vec<(&mut Expr, &DFSchema)> =
        parts.iter_mut().map(|part| (&mut **part, schema)).collect();
    unify(&mut parts) || is_widened
}

/// Decimals of 128 bits beside those of 256.
fn widen_decimals(parts: &mut [&mut Expr], schema: &DFSchema) -> bool {
    let is_wide = |part: &&mut Expr| matches!(part.get_type(schema), Ok(DataType::Decimal256(..)));
    if !parts.iter().any(is_wide) {
        return false;
    }
    let mut changed = false;
    for part in parts {
        let Ok(DataType::Decimal128(precision, scale)) = part.get_type(schema) else { continue };
        let wide = DataType::Decimal256(precision, scale);
        **part = match std::mem::take(&mut **part) {
            Expr::Literal(ScalarValue::Decimal128(digits, ..), metadata) => {
                let digits = digits.map(i256::from_i128);
                Expr::Literal(ScalarValue::Decimal256(digits, precision, scale), metadata)
            }
            part => Expr::Cast(Cast::new(Box::new(part), wide)),
        };
        changed = true;
    }
    changed
}

fn unify_arguments(parts: &mut [Expr], schema: &DFSchema) -> bool {
    if parts.len() < 2 {
        return false;
    }
    let mut parts: Vec<&mut Expr> = parts.iter_mut().collect();
    let is_signed = sign_counts(&mut parts, schema);
    unify_parts(&mut parts, schema) || is_signed
}

/// Counts among whole numbers as such numbers.
fn sign_counts(parts: &mut [&mut Expr], schema: &DFSchema) -> bool {
    let types = parts.iter().map(|part| part.get_type(schema).ok());
    let Some(types) = types.collect::<Option<Vec<DataType>>>() else { return false };
    if !types.iter().all(DataType::is_integer) {
        return false;
    }
    let mut changed = false;
    for (part, data_type) in parts.iter_mut().zip(types) {
        // A literal is one because it is too great for others.
        if data_type == DataType::UInt64 && !matches!(&**part, Expr::Literal(..)) {
            let count = Box::new(std::mem::take(&mut **part));
            **part = Expr::Cast(Cast::new(count, DataType::Int64));
            changed = true;
        }
    }
    changed
}

/// The same for parts that each have a schema of their own.
pub(super) fn unify(parts: &mut [(&mut Expr, &DFSchema)]) -> bool {
    let kinds: Vec<NumberKind> = parts.iter().map(|(part, schema)| kind_of(part, schema)).collect();
    if !(kinds.contains(&NumberKind::Float) && kinds.contains(&NumberKind::Decimal)) {
        return false;
    }
    for ((part, _), _) in
        parts.iter_mut().zip(kinds).filter(|(_, kind)| *kind == NumberKind::Decimal)
    {
        **part = to_double(std::mem::take(&mut **part));
    }
    true
}

fn divide_as_doubles(left: &mut Expr, right: &mut Expr, schema: &DFSchema) -> bool {
    let kinds = [kind_of(left, schema), kind_of(right, schema)];
    if !kinds.contains(&NumberKind::Decimal)
        || kinds.iter().any(|kind| matches!(kind, NumberKind::Text | NumberKind::Other))
    {
        return false;
    }
    for (part, kind) in [left, right].into_iter().zip(kinds) {
        if kind != NumberKind::Float {
            *part = to_double(std::mem::take(part));
        }
    }
    true
}

fn unify_case(case: &mut Case, schema: &DFSchema) -> bool {
    let Case { expr, when_then_expr, else_expr } = case;
    let (mut tested, mut given) = (Vec::new(), Vec::new());
    for (when, then) in when_then_expr {
        tested.push(when.as_mut());
        given.push(then.as_mut());
    }
    given.extend(else_expr.as_deref_mut());
    let is_signed = sign_counts(&mut given, schema);
    let is_given_changed = unify_parts(&mut given, schema) || is_signed;
    let Some(expr) = expr else { return is_given_changed };
    tested.push(expr);
    unify_compared(&mut tested, schema) || is_given_changed
}

/// The literals after the first argument as doubles.
fn literals_to_doubles(arguments: &mut [Expr]) -> bool {
    let mut changed = false;
    for argument in
        arguments.iter_mut().skip(1).filter(|argument| literal_number(argument).is_some())
    {
        replace(argument, |value| Some(value.double()));
        changed = true;
    }
    changed
}

/// A value as the nearest double.
pub(super) fn to_double(expr: Expr) -> Expr {
    match literal_number(&expr) {
        // The cast would divide, and miss the nearest one.
        Some(value) => Expr::Literal(value.double(), None),
        None => Expr::Cast(Cast::new(Box::new(expr), DataType::Float64)),
    }
}

fn replace(part: &mut Expr, value: impl Fn(&DecimalLiteral) -> Option<ScalarValue>) {
    if let Some(value) = literal_number(part).and_then(|number| value(&number)) {
        *part = Expr::Literal(value, None);
    }
}

/// The digits of a literal, and how many of them follow the point.
struct DecimalLiteral {
    digits: i256,
    scale: i8,
}

fn literal_number(expr: &Expr) -> Option<DecimalLiteral> {
    match expr {
        Expr::Literal(ScalarValue::Decimal128(Some(digits), _, scale), _) => {
            Some(DecimalLiteral { digits: i256::from_i128(*digits), scale: *scale })
        }
        Expr::Literal(ScalarValue::Decimal256(Some(digits), _, scale), _) => {
            Some(DecimalLiteral { digits: *digits, scale: *scale })
        }
        _ => None,
    }
}

/// The same, or a whole number.
fn any_number(expr: &Expr) -> Option<DecimalLiteral> {
    match expr {
        Expr::Literal(ScalarValue::Int64(Some(whole)), _) => {
            Some(DecimalLiteral { digits: i256::from(*whole), scale: 0 })
        }
        Expr::Literal(ScalarValue::UInt64(Some(whole)), _) => {
            Some(DecimalLiteral { digits: i256::from_i128((*whole).into()), scale: 0 })
        }
        _ => literal_number(expr),
    }
}

impl DecimalLiteral {
    /// A number such as `-1.50` or `1.5e3`.
    fn parse(text: &str) -> Option<Self> {
        let (number, exponent) = match text.trim().split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
            None => (text.trim(), 0),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let bare = whole.strip_prefix(['-', '+']).unwrap_or(whole);
        let is_plain = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        if bare.len() + fraction.len() == 0 || !is_plain(bare) || !is_plain(fraction) {
            return None;
        }
        let fraction = fraction.trim_end_matches('0');
        let digits = format!("{whole}{fraction}");
        let digits = i256::from_string(digits.strip_prefix('+').unwrap_or(&digits))?;
        if digits == i256::ZERO {
            return Some(Self { digits, scale: 0 });
        }
        let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        // A literal has no scale below zero: its digits say how large it is.
        let power = i256::from_i128(10).checked_pow(u32::try_from(-scale).unwrap_or(0))?;
        let digits = digits.checked_mul(power)?;
        Some(Self { digits, scale: i8::try_from(scale.max(0)).ok()? })
    }

    /// The number as a literal.
    fn decimal(&self) -> Option<ScalarValue> {
        let scale = u8::try_from(self.scale).ok()?;
        let digits = self.digits.wrapping_abs().to_string().len();
        let precision = u8::try_from(digits).ok()?.max(scale).max(1);
        let (digits, scale) = (self.digits, self.scale);
        Some(match digits.to_i128() {
            Some(digits) if precision <= DECIMAL128_MAX_PRECISION => {
                ScalarValue::Decimal128(Some(digits), precision, scale)
            }
            _ if precision <= DECIMAL256_MAX_PRECISION => {
                ScalarValue::Decimal256(Some(digits), precision, scale)
            }
            _ => return None,
        })
    }

    /// The digits in a column of that many, if it holds the number as it is.
    fn digits_in(&self, precision: u8, scale: i8) -> Option<i256> {
        let shift = i16::from(scale) - i16::from(self.scale);
        let power = i256::from_i128(10).checked_pow(shift.unsigned_abs().into())?;
        let digits = match shift >= 0 {
            true => self.digits.checked_mul(power)?,
            false if self.digits.wrapping_rem(power) == i256::ZERO => {
                self.digits.wrapping_div(power)
            }
            false => return None,
        };
        Decimal256Type::validate_decimal_precision(digits, precision, scale).ok()?;
        Some(digits)
    }

    fn text(&self) -> String {
        format!("{}e{}", self.digits, -i32::from(self.scale))
    }

    fn double(&self) -> ScalarValue {
        ScalarValue::Float64(self.text().parse().ok())
    }

    /// The number as a whole one, if it is that.
    fn whole(&self) -> Option<i64> {
        let power = 10_i128.checked_pow(u32::try_from(self.scale).ok()?)?;
        let digits = self.digits.to_i128()?;
        if digits % power == 0 { i64::try_from(digits / power).ok() } else { None }
    }
}
