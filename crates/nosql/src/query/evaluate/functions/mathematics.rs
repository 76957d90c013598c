//! Functions of numbers.

use std::sync::Arc;

use bigdecimal::RoundingMode;

use super::arguments::{Arguments, or_null};
use crate::query::item::{Item, Sequence, decimal, double_text};
use crate::wire::Outcome;

type Given = Outcome<Sequence>;

pub(super) fn abs(of: &Arguments<'_>) -> Given {
    or_null(of.item(0).and_then(|item| {
        Some(match item {
            Item::Integer(number) => Item::Integer(number.wrapping_abs()),
            Item::Long(number) => Item::Long(number.wrapping_abs()),
            Item::Float(number) => Item::Float(number.abs()),
            Item::Double(number) => Item::Double(number.abs()),
            Item::Number(number) => Item::Number(Arc::new(number.abs())),
            _ => return None,
        })
    }))
}

/// `ceil`, `floor`, `round` and `trunc`, the last two to some digits after the point.
pub(super) fn round(of: &Arguments<'_>) -> Given {
    let digits = if of.len() > 1 { of.whole(1) } else { Some(0) };
    let (Some(item), Some(digits)) = (of.item(0), digits) else { return Ok(Sequence::null()) };
    let digits = digits.clamp(-30, 30);
    let mode = match of.name {
        "ceil" => RoundingMode::Ceiling,
        "floor" => RoundingMode::Floor,
        "round" => RoundingMode::HalfUp,
        _ => RoundingMode::Down,
    };
    let rounded = |text: &str| decimal(text).map(|number| number.with_scale_round(digits, mode));
    or_null(match item {
        Item::Number(number) => Some(Item::Number(Arc::new(number.with_scale_round(digits, mode)))),
        Item::Integer(_) | Item::Long(_) | Item::Float(_) | Item::Double(_) => {
            let number = item.double().unwrap_or_default();
            // Infinities and NaN have no digits.
            let rounded =
                rounded(&double_text(number)).and_then(|number| number.to_string().parse().ok());
            Some(Item::Double(rounded.unwrap_or(number)))
        }
        _ => None,
    })
}

/// Functions of one double.
pub(super) fn of_double(of: &Arguments<'_>) -> Given {
    or_null(of.double(0).map(|number| {
        Item::Double(match of.name {
            "sign" if number == 0.0 || number.is_nan() => number,
            "sign" => number.signum(),
            "sqrt" => number.sqrt(),
            "exp" => number.exp(),
            "ln" => number.ln(),
            "log10" => number.log10(),
            "sin" => number.sin(),
            "cos" => number.cos(),
            "tan" => number.tan(),
            "cot" => number.tan().recip(),
            "asin" => number.asin(),
            "acos" => number.acos(),
            "atan" => number.atan(),
            "degrees" => number.to_degrees(),
            _ => number.to_radians(),
        })
    }))
}

/// Functions of two doubles.
pub(super) fn of_two(of: &Arguments<'_>) -> Given {
    or_null(of.double(0).zip(of.double(1)).map(|(one, other)| {
        Item::Double(match of.name {
            "log" => one.ln() / other.ln(),
            "power" => one.powf(other),
            _ => one.atan2(other),
        })
    }))
}

pub(super) fn constant(of: &Arguments<'_>) -> Given {
    let number = match of.name {
        "pi" => std::f64::consts::PI,
        "e" => std::f64::consts::E,
        _ => random(),
    };
    Ok(Item::Double(number).into())
}

/// From 0 up to 1. The seeds of hash maps are random, which is enough here.
fn random() -> f64 {
    use std::hash::{BuildHasher, Hasher};
    let bits = std::collections::hash_map::RandomState::new().build_hasher().finish();
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}
