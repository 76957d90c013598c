//! Texts beside values of other types: here alone it is decided what they mean.
//!
//! A text beside a number, bytes, a UUID or a timestamp is the value that it spells, with all of
//! its digits. The planner would cut it to the type of the other side, and find `0.13` for
//! `'0.1255'`. A text beside a truth value, a day or a time of day is cast to it.
//!
//! 1. A text that is written becomes a literal of the other type, or of one that has room for all
//!    of its digits. So keys and indexes answer it. One that spells no such value is an error.
//! 2. A text that is computed, or is in a column, is read row by row (`text_reader.rs`).
//! 3. What COALESCE and CASE may give counts as if it were written there: `n = coalesce(a, '0.5')`.
//! 4. Values of which one is given, as those of COALESCE and VALUES, must have one type. There a
//!    column of text beside decimals is refused: the number of its digits is unknown. CASE and
//!    UNION give text then.
//!
//! Documents beside texts are in `json_values.rs`. Symbols of an ENUM are texts to SQL.

use arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue, plan_err};
use datafusion::logical_expr::expr::{InList, ScalarFunction};
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{Between, BinaryExpr, Case, Cast, Expr, ExprSchemable, binary_expr};
use datafusion::sql::sqlparser::ast::BinaryOperator;
use tonnage::{ColumnType, Value};

use super::casts::rewrite_cast;
use super::numbers::{self, NumberKind};
use super::text_reader::read_text;
use crate::functions::{UUID, uuid_text};
use crate::text::distinct_operator;

/// Functions that give one of their arguments.
pub(super) const CHOOSING: [&str; 5] = ["coalesce", "greatest", "ifnull", "least", "nvl"];
/// Those of them that do not compare their arguments.
const TAKING_FIRST: [&str; 3] = ["coalesce", "ifnull", "nvl"];

/// Lists that are written, and what gives one of their items.
const LISTING: [&str; 3] = ["make_array", "array_min", "array_max"];

/// An expression with the schema that it is of.
pub(super) type Part<'a> = (&'a mut Expr, &'a DFSchema);

/// Reads texts beside bytes, UUIDs and truth values while comparisons are planned: their types are
/// looked at before any rule runs.
#[derive(Debug)]
pub(crate) struct TextPlanner;

impl ExprPlanner for TextPlanner {
    fn plan_binary_op(
        &self,
        expr: RawBinaryExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawBinaryExpr>> {
        use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq, StringConcat};
        let RawBinaryExpr { op, mut left, mut right } = expr;
        let distinct = distinct_operator(&op);
        if distinct.is_some() || matches!(op, Eq | NotEq | Gt | GtEq | Lt | LtEq) {
            let mut parts = [(&mut left, schema), (&mut right, schema)];
            // Others wait for `TypeRule`, which keeps the names of columns.
            if matches!(
                meaning(&parts),
                Some(Meaning::Bytes(_) | Meaning::Uuid | Meaning::Cast(CastKind::Truth))
            ) {
                compare(&mut parts)?;
            }
        }
        if let Some(op) = distinct {
            return Ok(PlannerResult::Planned(binary_expr(left, op, right)));
        }
        if op == StringConcat {
            (left, right) = (text_if_uuid(left, schema), text_if_uuid(right, schema));
        }
        Ok(PlannerResult::Original(RawBinaryExpr { op, left, right }))
    }
}

fn text_if_uuid(expr: Expr, schema: &DFSchema) -> Expr {
    if bytes_of(&expr, schema) == Some(ColumnType::Uuid) { uuid_text(expr) } else { expr }
}

/// Reads texts among the items of a list that is written, where the library has no type for both.
///
/// # Errors
/// For a text that spells no value of the type of the others.
pub(super) fn read_items(items: &mut [Expr], schema: &DFSchema) -> Result<()> {
    let mut parts: Vec<Part<'_>> = items.iter_mut().map(|item| (item, schema)).collect();
    match meaning(&parts) {
        Some(Meaning::Bytes(_) | Meaning::Uuid) => choose(&mut parts)?,
        Some(meaning @ (Meaning::Cast(_) | Meaning::Moment(_))) => {
            cast_all(&mut parts, &meaning.data_type())?
        }
        Some(Meaning::Number(_)) | None => false,
    };
    Ok(())
}

/// An expression whose parts are done.
pub(super) fn read_beside(mut expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let changed = match &mut expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if numbers::is_compared(*op) => {
            compare(&mut [(left.as_mut(), schema), (right.as_mut(), schema)])?
        }
        Expr::InList(InList { expr, list, .. }) => {
            let parts = std::iter::once(expr.as_mut()).chain(list);
            compare(&mut parts.map(|part| (part, schema)).collect::<Vec<_>>())?
        }
        Expr::Between(Between { expr, low, high, .. }) => compare(&mut [
            (expr.as_mut(), schema),
            (low.as_mut(), schema),
            (high.as_mut(), schema),
        ])?,
        // The operand with what it is compared with, and the results with each other.
        Expr::Case(case) => read_case(case, schema)?,
        Expr::ScalarFunction(call) => read_call(call, schema)?,
        Expr::Cast(Cast { expr: inner, field })
            if field.data_type().is_string()
                && bytes_of(inner, schema) == Some(ColumnType::Uuid) =>
        {
            // Arrow has no cast from 16 bytes to text.
            expr = uuid_text(std::mem::take(inner.as_mut()));
            true
        }
        _ => false,
    };
    Ok(if changed { Transformed::yes(expr) } else { Transformed::no(expr) })
}

fn read_case(case: &mut Case, schema: &DFSchema) -> Result<bool> {
    let Case { expr, when_then_expr, else_expr } = case;
    let (mut tested, mut given) = (Vec::new(), Vec::new());
    for (when, then) in when_then_expr {
        tested.push((when.as_mut(), schema));
        given.push((then.as_mut(), schema));
    }
    given.extend(else_expr.as_deref_mut().map(|expr| (expr, schema)));
    let is_given_read = choose_or_text(&mut given)?;
    // Without an operand the conditions compare for themselves.
    let Some(operand) = expr else { return Ok(is_given_read) };
    tested.push((operand.as_mut(), schema));
    Ok(compare(&mut tested)? || is_given_read)
}

fn read_call(call: &mut ScalarFunction, schema: &DFSchema) -> Result<bool> {
    let name = call.func.name();
    let mut parts: Vec<Part<'_>> = call.args.iter_mut().map(|part| (part, schema)).collect();
    match name {
        "make_array" => choose(&mut parts),
        name if CHOOSING.contains(&name) => choose(&mut parts),
        // It gives its first argument, so that bytes have one type as those of COALESCE.
        "nullif" if matches!(meaning(&parts), Some(Meaning::Bytes(_))) => choose(&mut parts),
        // The first compares its arguments as `=` does, the second is `x = ANY (ARRAY[...])`.
        "nullif" | "array_has" => compare(&mut parts),
        _ => Ok(false),
    }
}

/// Values that are compared: texts among them become what the others are.
///
/// # Errors
/// For a text that spells no value of that type.
pub(super) fn compare(parts: &mut [Part<'_>]) -> Result<bool> {
    let meaning = match meaning(parts) {
        Some(meaning) => meaning,
        None => return Ok(cast_beside_float(parts)? | cast_listed_numbers(parts)?),
    };
    match meaning {
        Meaning::Moment(_) => return read_moments(parts, meaning),
        // The planner casts those that are arguments of nothing.
        Meaning::Cast(kind @ (CastKind::Day | CastKind::Time)) => {
            return cast_listed(parts, &kind.data_type());
        }
        _ => {}
    }
    let mut spread = spread(parts);
    match meaning {
        Meaning::Number(room) => {
            let is_computed = |part: &Part<'_>| is_text(part) && !is_literal(part.0);
            if !spread.iter().any(is_computed) {
                return read_literals(&mut spread, meaning);
            }
            // Beside literals alone a column of text may hold any number, and is one of doubles.
            let mut decimals = spread.iter().filter(|part| kind_of(part) == NumberKind::Decimal);
            if decimals.all(|part| is_literal(part.0)) {
                return Ok(false);
            }
            let common = room.widest();
            for part in &mut spread {
                become_number(part, &common)?;
            }
            Ok(true)
        }
        Meaning::Bytes(Some(width)) => {
            let fits = |part: &Part<'_>| match literal_text(part.0) {
                Some(text) => bytes(text).map(|bytes| bytes.len() == width as usize),
                None => Ok(!is_text(part)),
            };
            let fit = spread.iter().map(fits).collect::<Result<Vec<_>>>()?;
            if fit.iter().all(|fits| *fits) {
                return read_literals(&mut spread, meaning);
            }
            // Bytes of another length are never equal, and are ordered all the same.
            for (part, schema) in &mut spread {
                if bytes_of(part, schema).is_some() {
                    **part = cast(std::mem::take(*part), DataType::Binary);
                }
            }
            read_all(&mut spread, Meaning::Bytes(None))
        }
        meaning => read_all(&mut spread, meaning),
    }
}

/// Values of which one is given: the texts among them become what the others are.
///
/// # Errors
/// For a text that spells no value of that type, and for a column of text beside decimals.
pub(super) fn choose(parts: &mut [Part<'_>]) -> Result<bool> {
    let Some(meaning) = meaning(parts) else { return Ok(false) };
    if let Meaning::Moment(_) = meaning {
        return read_moments(parts, meaning);
    }
    let mut spread = spread(parts);
    match meaning {
        Meaning::Number(_) if spread.iter().any(|part| is_text(part) && !is_literal(part.0)) => {
            plan_err!(
                "text and decimals are given by one expression, and a text has no number of \
                 digits: write CAST(text AS NUMBER(p, s)), or cast the decimals to STRING"
            )
        }
        Meaning::Number(_) => read_literals(&mut spread, meaning),
        Meaning::Bytes(Some(_)) => {
            for (part, schema) in &mut spread {
                if bytes_of(part, schema).is_some() {
                    **part = cast(std::mem::take(*part), DataType::Binary);
                }
            }
            read_all(&mut spread, Meaning::Bytes(None))
        }
        meaning => read_all(&mut spread, meaning),
    }
}

/// The same for CASE and UNION, which give text where one of them is not a number and no truth
/// value.
///
/// # Errors
/// For a text that spells no value of a type that is none of these.
pub(super) fn choose_or_text(parts: &mut [Part<'_>]) -> Result<bool> {
    let is_written: fn(&str) -> bool = match meaning(parts) {
        Some(Meaning::Number(_)) => |text: &str| numbers::decimal_of_text(text).is_some(),
        Some(Meaning::Cast(kind)) => match kind {
            CastKind::Truth => |text: &str| Value::parse(text, ColumnType::Boolean).is_ok(),
            CastKind::Day | CastKind::Time => return Ok(false),
        },
        None if read_plain_numbers(parts)? => return Ok(true),
        _ => return choose(parts),
    };
    let is_read = |part: &Part<'_>| match literal_text(part.0) {
        Some(text) => is_written(text),
        None => !is_text(part),
    };
    match spread(parts).iter().all(is_read) {
        true => choose(parts),
        false => Ok(false),
    }
}

/// What texts mean beside others.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Meaning {
    Number(DigitRoom),
    /// Bytes, of one length or of any.
    Bytes(Option<i32>),
    Uuid,
    Moment(TimeUnit),
    /// What a cast reads as well.
    Cast(CastKind),
}

/// Types to which texts are cast.
#[derive(Clone, Copy, Debug, PartialEq)]
enum CastKind {
    Truth,
    Day,
    Time,
}

impl CastKind {
    fn data_type(self) -> DataType {
        match self {
            CastKind::Truth => DataType::Boolean,
            CastKind::Day => DataType::Date32,
            CastKind::Time => DataType::Time64(TimeUnit::Nanosecond),
        }
    }
}

impl Meaning {
    /// The type that texts are read as.
    fn data_type(self) -> DataType {
        match self {
            Meaning::Bytes(_) => DataType::Binary,
            Meaning::Uuid => UUID,
            Meaning::Moment(TimeUnit::Nanosecond) => {
                DataType::Timestamp(TimeUnit::Nanosecond, None)
            }
            // Microseconds reach over all years.
            Meaning::Moment(_) => DataType::Timestamp(TimeUnit::Microsecond, None),
            Meaning::Number(room) => room.widest(),
            Meaning::Cast(kind) => kind.data_type(),
        }
    }
}

/// The most digits before the point, and after it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct DigitRoom {
    before: u8,
    behind: u8,
}

impl DigitRoom {
    /// A type with as many digits before the point, and as many as possible after it.
    fn widest(self) -> DataType {
        const DIGITS: u8 = 76;
        const HALF: u8 = 38;
        let behind = self.behind.max(HALF).min(DIGITS.saturating_sub(self.before));
        DataType::Decimal256(DIGITS, behind as i8)
    }
}

/// What texts mean among these values, if there are texts and others that say it.
fn meaning(parts: &[Part<'_>]) -> Option<Meaning> {
    // Types are asked for only where there is a text.
    if !parts.iter().any(is_text) {
        return None;
    }
    let mut found = None;
    for (part, schema) in parts.iter().filter(|part| !is_text(part)) {
        let own = match meaning_beside(part, schema)? {
            Beside::Nothing => continue,
            Beside::Value(own) => own,
        };
        found = Some(match (found, own) {
            (None, own) => own,
            (Some(Meaning::Number(one)), Meaning::Number(other)) => Meaning::Number(DigitRoom {
                before: one.before.max(other.before),
                behind: one.behind.max(other.behind),
            }),
            (Some(Meaning::Bytes(one)), Meaning::Bytes(other)) => {
                Meaning::Bytes(one.filter(|_| one == other))
            }
            (Some(Meaning::Moment(one)), Meaning::Moment(other)) => Meaning::Moment(one.max(other)),
            (Some(one), other) if one == other => one,
            _ => return None,
        });
    }
    // Texts beside whole numbers alone are whole numbers, as the planner has it.
    let has_decimal = || parts.iter().any(|part| kind_of(part) == NumberKind::Decimal);
    found.filter(|found| !matches!(found, Meaning::Number(_)) || has_decimal())
}

enum Beside {
    /// NULL, which says nothing.
    Nothing,
    Value(Meaning),
}

/// What a text means beside a value; nothing where the planner decides it.
fn meaning_beside(part: &Expr, schema: &DFSchema) -> Option<Beside> {
    if matches!(part, Expr::Literal(value, _) if value.is_null()) {
        return Some(Beside::Nothing);
    }
    let kind = part.get_type(schema).ok()?;
    // A scale below zero has no digits after the point.
    let room = |precision: u8, scale: i8| {
        let behind = u8::try_from(scale).unwrap_or(0);
        Meaning::Number(DigitRoom { before: precision.saturating_sub(behind), behind })
    };
    Some(Beside::Value(match kind {
        DataType::Null => return Some(Beside::Nothing),
        DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale) => {
            room(precision, scale)
        }
        kind if kind.is_integer() => room(20, 0),
        DataType::Timestamp(unit, None) => Meaning::Moment(unit),
        DataType::Boolean => Meaning::Cast(CastKind::Truth),
        DataType::Date32 => Meaning::Cast(CastKind::Day),
        DataType::Time64(TimeUnit::Nanosecond) => Meaning::Cast(CastKind::Time),
        // Of a list the items are compared.
        DataType::List(_) => return meaning_beside(item_of(part)?, schema),
        // Both UUIDs and bytes are bytes to Arrow: the field says which.
        _ => match bytes_of(part, schema)? {
            ColumnType::Uuid => Meaning::Uuid,
            ColumnType::FixedBinary(width) => Meaning::Bytes(Some(width.into())),
            _ => Meaning::Bytes(None),
        },
    }))
}

/// The type of column that holds bytes like these.
fn bytes_of(expr: &Expr, schema: &DFSchema) -> Option<ColumnType> {
    let (_, field) = expr.to_field(schema).ok()?;
    let is_bytes = match field.data_type() {
        DataType::FixedSizeBinary(_) => true,
        kind => kind.is_binary(),
    };
    if is_bytes { ColumnType::of_arrow(&field) } else { None }
}

fn kind_of((part, schema): &Part<'_>) -> NumberKind {
    part.get_type(*schema).map_or(NumberKind::Other, |kind| NumberKind::of(&kind))
}

fn is_text((part, schema): &Part<'_>) -> bool {
    gives_text(part, schema)
}

/// Whether a value is a text, or a list that is written of texts.
fn gives_text(expr: &Expr, schema: &DFSchema) -> bool {
    let is_text = |expr: &Expr| expr.get_type(schema).is_ok_and(|kind| kind.is_string());
    match expr {
        // NULL of any type says nothing.
        Expr::Literal(value, _) => value.data_type().is_string() && !value.is_null(),
        expr => is_text(expr) || item_of(expr).is_some_and(is_text),
    }
}

/// An item of a list that is written, which is not NULL if there is such.
fn item_of(expr: &Expr) -> Option<&Expr> {
    let is_null = |item: &&Expr| matches!(item, Expr::Literal(value, _) if value.is_null());
    match expr {
        Expr::ScalarFunction(call) if call.func.name() == "make_array" => {
            call.args.iter().find(|item| !is_null(item)).or(call.args.first())
        }
        _ => None,
    }
}

fn is_literal(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(..))
}

fn literal_text(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Literal(value, _) => value.try_as_str().flatten(),
        _ => None,
    }
}

/// The values, with those that chosen texts and lists may give.
fn spread<'p>(parts: &'p mut [Part<'_>]) -> Vec<Part<'p>> {
    spread_of(parts.iter_mut())
}

fn spread_of<'p, 's: 'p>(parts: impl Iterator<Item = &'p mut Part<'s>>) -> Vec<Part<'p>> {
    let mut found = Vec::new();
    for (part, schema) in parts {
        gather(part, schema, &mut found);
    }
    found
}

fn gather<'p>(part: &'p mut Expr, schema: &'p DFSchema, found: &mut Vec<Part<'p>>) {
    // Of a call that is none of these the result is read, and not what it is given.
    let is_spread = |part: &Expr| match part {
        Expr::Case(_) | Expr::Alias(_) => true,
        Expr::ScalarFunction(call) => {
            TAKING_FIRST.contains(&call.func.name()) || LISTING.contains(&call.func.name())
        }
        _ => false,
    };
    // Values other than texts keep their parts.
    if !is_spread(part) || !gives_text(part, schema) {
        return found.push((part, schema));
    }
    match part {
        Expr::Case(Case { when_then_expr, else_expr, .. }) => {
            for (_, then) in when_then_expr {
                gather(then, schema, found);
            }
            if let Some(other) = else_expr {
                gather(other, schema, found);
            }
        }
        Expr::Alias(alias) => gather(&mut alias.expr, schema, found),
        Expr::ScalarFunction(call) => {
            for argument in &mut call.args {
                gather(argument, schema, found);
            }
        }
        part => found.push((part, schema)),
    }
}

/// Texts beside a FLOAT or DOUBLE and further values: each is what it would be beside the first
/// alone. The planner reads all of them as one type, by which `f IN ('0.1', 2.5)` missed 0.1 of a
/// FLOAT.
fn cast_beside_float(parts: &mut [Part<'_>]) -> Result<bool> {
    if parts.len() < 3 {
        return Ok(false);
    }
    let values = parts.iter().filter(|(part, _)| !is_literal(part));
    let kind = values.filter_map(|(part, schema)| part.get_type(*schema).ok());
    let Some(kind) = kind.into_iter().find(DataType::is_floating) else { return Ok(false) };
    let is_single =
        |(part, schema): &&mut Part<'_>| part.get_type(*schema).is_ok_and(|kind| kind.is_string());
    let texts = parts.iter_mut().filter(is_single);
    cast_all(&mut texts.map(|(part, schema)| (&mut **part, *schema)).collect::<Vec<_>>(), &kind)
}

/// Texts that are written among whole numbers or doubles of one type, of which CASE and UNION give
/// one. They are read only if all of them spell such numbers.
fn read_plain_numbers(parts: &mut [Part<'_>]) -> Result<bool> {
    let mut spread = spread(parts);
    let (mut kind, mut has_text) = (None, false);
    for part in &spread {
        if literal_text(part.0).is_some() {
            has_text = true;
            continue;
        }
        match part.0.get_type(part.1) {
            Ok(DataType::Null) => {}
            Ok(own) if kind.as_ref().is_none_or(|kind| *kind == own) => kind = Some(own),
            _ => return Ok(false),
        }
    }
    let column_type = match kind {
        Some(DataType::Int32) => ColumnType::Integer,
        Some(DataType::Int64) => ColumnType::Long,
        Some(DataType::Float32) => ColumnType::Float,
        Some(DataType::Float64) => ColumnType::Double,
        _ => return Ok(false),
    };
    let mut texts = spread.iter().filter_map(|part| literal_text(part.0));
    if !has_text || !texts.all(|text| Value::parse(text, column_type).is_ok()) {
        return Ok(false);
    }
    cast_all(&mut spread, &column_type.data_type())
}

/// Texts in lists beside whole numbers and doubles. As texts `'10'` is less than `'9'`.
fn cast_listed_numbers(parts: &mut [Part<'_>]) -> Result<bool> {
    let number = parts.iter().filter(|part| !is_text(part)).find_map(|(part, schema)| {
        part.get_type(*schema).ok().filter(|kind| kind.is_integer() || kind.is_floating())
    });
    match number {
        Some(kind) => cast_listed(parts, &kind),
        None => Ok(false),
    }
}

/// Casts the texts that are in lists.
fn cast_listed(parts: &mut [Part<'_>], kind: &DataType) -> Result<bool> {
    let is_listed = |part: &Expr| match part {
        Expr::ScalarFunction(call) => LISTING.contains(&call.func.name()),
        _ => false,
    };
    let listed = parts.iter_mut().filter(|(part, _)| is_listed(part));
    cast_all(&mut spread_of(listed), kind)
}

/// Casts all texts.
fn cast_all(parts: &mut [Part<'_>], kind: &DataType) -> Result<bool> {
    let mut changed = false;
    for (part, schema) in parts.iter_mut().filter(|part| is_text(part)) {
        let value = cast(std::mem::take(*part), kind.clone());
        **part = rewrite_cast(value, schema)?.data;
        changed = true;
    }
    Ok(changed)
}

/// Makes values of the texts that are written.
fn read_literals(parts: &mut [Part<'_>], meaning: Meaning) -> Result<bool> {
    let mut changed = false;
    for (part, _) in parts {
        if let Some(text) = literal_text(part) {
            **part = Expr::Literal(literal(text, meaning)?, None);
            changed = true;
        }
    }
    Ok(changed)
}

/// Makes values of all texts.
fn read_all(parts: &mut [Part<'_>], meaning: Meaning) -> Result<bool> {
    if let Meaning::Cast(kind) = meaning {
        return cast_all(parts, &kind.data_type());
    }
    let mut changed = read_literals(parts, meaning)?;
    for part in parts.iter_mut() {
        if is_text(part) && !is_literal(part.0) {
            *part.0 = read_text(std::mem::take(part.0), &meaning.data_type());
            changed = true;
        }
    }
    Ok(changed)
}

/// Makes timestamps of texts, but not of literals alone: they are rounded or widened
/// with their columns (`moments.rs`).
fn read_moments(parts: &mut [Part<'_>], meaning: Meaning) -> Result<bool> {
    let mut changed = false;
    for (part, schema) in parts.iter_mut().filter(|(part, _)| !is_literal(part)) {
        let mut within = Vec::new();
        gather(part, schema, &mut within);
        for text in within.iter_mut().filter(|part| is_text(part)) {
            *text.0 = read_text(std::mem::take(text.0), &meaning.data_type());
            changed = true;
        }
    }
    Ok(changed)
}

/// A value beside texts that are computed, in a type that holds all of their digits.
fn become_number((part, schema): &mut Part<'_>, common: &DataType) -> Result<()> {
    if let Some(text) = literal_text(part) {
        let room = Meaning::Number(DigitRoom::default());
        **part = Expr::Literal(literal(text, room)?, None);
    } else if part.get_type(*schema)?.is_string() {
        **part = read_text(std::mem::take(*part), common);
    } else if !is_literal(part) {
        **part = cast(std::mem::take(*part), common.clone());
    }
    Ok(())
}

fn cast(expr: Expr, kind: DataType) -> Expr {
    Expr::Cast(Cast::new(Box::new(expr), kind))
}

/// The value that a text spells.
fn literal(text: &str, meaning: Meaning) -> Result<ScalarValue> {
    match meaning {
        Meaning::Number(_) => match numbers::decimal_of_text(text) {
            Some(number) => Ok(number),
            None => plan_err!(
                "'{text}' is not a number: beside a NUMBER up to 76 digits are expected, such as '12.50'"
            ),
        },
        Meaning::Bytes(Some(width)) => Ok(ScalarValue::FixedSizeBinary(width, Some(bytes(text)?))),
        Meaning::Bytes(None) => Ok(ScalarValue::Binary(Some(bytes(text)?))),
        Meaning::Uuid => match Value::parse(text, ColumnType::Uuid) {
            Ok(Value::Uuid(bytes)) => Ok(ScalarValue::FixedSizeBinary(16, Some(bytes.to_vec()))),
            Ok(_) => plan_err!("'{text}' is not a UUID"),
            Err(error) => plan_err!("{}", error.message()),
        },
        // Others than these are not literals of their own: `read_all` and `read_moments` make them.
        Meaning::Moment(_) | Meaning::Cast(_) => Ok(ScalarValue::Utf8(Some(text.to_owned()))),
    }
}

fn bytes(text: &str) -> Result<Vec<u8>> {
    match Value::parse(text, ColumnType::Binary) {
        Ok(Value::Binary(bytes)) => Ok(bytes),
        Ok(_) => plan_err!("'{text}' is not a BINARY"),
        Err(error) => plan_err!("{}", error.message()),
    }
}
