//! Sums, differences, products and quotients, in the widest kind of their operands.

use bigdecimal::{BigDecimal, FromPrimitive, Zero};

use super::evaluator::{Evaluator, fault};
use super::scope::Scope;
use crate::query::item::{Item, NumberContext, Sequence, decimal, double_text, float_text};
use crate::query::syntax::{ArithmeticOp, Expr, Place};
use crate::wire::{Failure, Outcome};

/// The kinds of numbers, each wider than those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Width {
    Integer,
    Long,
    Float,
    Double,
    Number,
}

impl Evaluator {
    pub(super) fn arithmetic(
        &self,
        place: Place,
        first: &Expr,
        rest: &[(ArithmeticOp, Expr)],
        scope: &Scope<'_>,
    ) -> Outcome<Sequence> {
        let mut operands = Vec::with_capacity(rest.len() + 1);
        let (mut width, mut is_null) = (Width::Integer, false);
        for (at, expr) in
            std::iter::once(first).chain(rest.iter().map(|(_, expr)| expr)).enumerate()
        {
            let item = match self.evaluate(expr, scope)? {
                Sequence::Empty | Sequence::One(Item::Null) => {
                    is_null = true;
                    continue;
                }
                Sequence::One(item) => item,
                Sequence::Many(_) => {
                    return Err(fault(
                        place,
                        "an operand of an arithmetic operation has more than one item",
                    ));
                }
            };
            // All operands decide the kind, not two at a time: 5 / 2 / 2.0 is 1.25.
            width = width.max(width_of(place, at, &item)?);
            operands.push(item);
        }
        if is_null {
            return Ok(Sequence::null());
        }
        // A quotient with a fraction is none of whole numbers.
        let is_real = rest.iter().any(|(op, _)| *op == ArithmeticOp::RealDivide);
        if is_real && width <= Width::Long {
            width = Width::Double;
        }
        // From left to right, as the operators stand.
        let mut operands = operands.into_iter();
        let mut result = operands.next().unwrap_or(Item::Null);
        if rest.is_empty() {
            return Ok(result.into());
        }
        for ((op, _), operand) in rest.iter().zip(operands) {
            result = apply(place, &self.numbers, width, &result, *op, &operand)?;
        }
        Ok(result.into())
    }

    pub(super) fn negated(&self, place: Place, given: Sequence) -> Outcome<Sequence> {
        Ok(match given {
            Sequence::Empty | Sequence::One(Item::Null) => Sequence::null(),
            Sequence::One(item) => {
                width_of(place, 0, &item)?;
                match item {
                    Item::Integer(number) => Item::Integer(number.wrapping_neg()),
                    Item::Long(number) => Item::Long(number.wrapping_neg()),
                    Item::Float(number) => Item::Float(-number),
                    Item::Double(number) => Item::Double(-number),
                    Item::Number(number) => Item::Number(std::sync::Arc::new(-&*number)),
                    other => other,
                }
                .into()
            }
            Sequence::Many(_) => {
                return Err(fault(place, "the operand of - has more than one item"));
            }
        })
    }
}

/// The sum of two numbers, for aggregates.
pub(crate) fn add_items(numbers: &NumberContext, one: &Item, other: &Item) -> Outcome<Item> {
    let place = Place::default();
    let width = width_of(place, 0, one)?.max(width_of(place, 1, other)?);
    apply(place, numbers, width, one, ArithmeticOp::Add, other)
}

/// A sum divided by a count, for averages: a double unless it is a decimal number.
pub(crate) fn divide_items(numbers: &NumberContext, sum: &Item, count: i64) -> Outcome<Item> {
    let width = if matches!(sum, Item::Number(_)) { Width::Number } else { Width::Double };
    apply(Place::default(), numbers, width, sum, ArithmeticOp::Divide, &Item::Long(count))
}

fn width_of(place: Place, at: usize, item: &Item) -> Outcome<Width> {
    Ok(match item {
        Item::Integer(_) => Width::Integer,
        Item::Long(_) => Width::Long,
        Item::Float(_) => Width::Float,
        Item::Double(_) => Width::Double,
        Item::Number(_) => Width::Number,
        other => {
            let kind = other.kind_name();
            let message = format!(
                "Operand in arithmetic operation has illegal type\nOperand : {at} type :\n{kind}"
            );
            return Err(fault(place, &message));
        }
    })
}

fn apply(
    place: Place,
    numbers: &NumberContext,
    width: Width,
    one: &Item,
    op: ArithmeticOp,
    other: &Item,
) -> Outcome<Item> {
    let by_zero = || fault(place, "Arithmetic exception in query: null");
    let wholes = || one.whole().zip(other.whole()).unwrap_or_default();
    let doubles = || one.double().zip(other.double()).unwrap_or_default();
    Ok(match width {
        Width::Integer => {
            // Operands of this width fit it.
            let (one, other) = wholes();
            let (one, other) = (one as i32, other as i32);
            Item::Integer(match op {
                ArithmeticOp::Add => one.wrapping_add(other),
                ArithmeticOp::Subtract => one.wrapping_sub(other),
                ArithmeticOp::Multiply => one.wrapping_mul(other),
                _ if other == 0 => return Err(by_zero()),
                _ => one.wrapping_div(other),
            })
        }
        // Sums of whole numbers wrap around, as the language says.
        Width::Long => {
            let (one, other) = wholes();
            Item::Long(match op {
                ArithmeticOp::Add => one.wrapping_add(other),
                ArithmeticOp::Subtract => one.wrapping_sub(other),
                ArithmeticOp::Multiply => one.wrapping_mul(other),
                _ if other == 0 => return Err(by_zero()),
                _ => one.wrapping_div(other),
            })
        }
        Width::Float => {
            let (one, other) = doubles();
            let (one, other) = (one as f32, other as f32);
            Item::Float(match op {
                ArithmeticOp::Add => one + other,
                ArithmeticOp::Subtract => one - other,
                ArithmeticOp::Multiply => one * other,
                _ => one / other,
            })
        }
        Width::Double => {
            let (one, other) = doubles();
            Item::Double(match op {
                ArithmeticOp::Add => one + other,
                ArithmeticOp::Subtract => one - other,
                ArithmeticOp::Multiply => one * other,
                _ => one / other,
            })
        }
        Width::Number => {
            let (one, other) = exact(one).zip(exact(other)).ok_or_else(|| no_decimal(place))?;
            // Products and quotients are rounded after each operation, or their digits would grow.
            let result = match op {
                ArithmeticOp::Add => one + other,
                ArithmeticOp::Subtract => one - other,
                ArithmeticOp::Multiply => one * other,
                _ if other.is_zero() => return Err(by_zero()),
                _ => one / other,
            };
            numbers.rounded(&result).ok_or_else(|| no_decimal(place))?
        }
    })
}

/// A number as a decimal one; nothing for infinities and NaN.
fn exact(item: &Item) -> Option<BigDecimal> {
    match item {
        Item::Integer(number) => BigDecimal::from_i32(*number),
        Item::Long(number) => BigDecimal::from_i64(*number),
        Item::Float(number) => decimal(&float_text(*number)),
        Item::Double(number) => decimal(&double_text(*number)),
        Item::Number(number) => Some((**number).clone()),
        _ => None,
    }
}

#[cold]
fn no_decimal(place: Place) -> Failure {
    fault(place, "a number is infinite, none, or too large for decimal digits")
}
