//! Doubles as whole numbers of a power of ten, as far as they come back bit by bit.

use arrow::array::Float64Array;
use tonnage_engine::Result;

use crate::cursor::{Cursor, damaged};
use crate::integers::{BLOCK_ROWS, PackedIntegers, pack};

/// The powers that are tried. Each is exact as a double.
const POWERS: [f64; 15] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14];
/// In place of a power: the bits of each value.
const PLAIN: u8 = u8::MAX;
/// Beyond it not every whole number is a double.
const WHOLE_MAX: f64 = 9e15;
/// Values that choose the power.
const SAMPLE_ROWS: usize = 256;
/// At most one value of so many may be an exception.
const EXCEPTION_SHARE: usize = 10;
const EXCEPTION_BYTES: usize = 12;

/// The whole number that gives these bits again, if there is one: never for -0.0 and NaN.
fn whole(value: f64, power: f64) -> Option<i64> {
    let whole = (value * power).round();
    let is_same = whole.abs() < WHOLE_MAX && (whole / power).to_bits() == value.to_bits();
    // -0.0 is whole as a double, but not as an integer.
    (is_same && !(value == 0.0 && value.is_sign_negative())).then_some(whole as i64)
}

/// Encodes values after what `out` has.
pub(crate) fn encode(array: &Float64Array, out: &mut Vec<u8>) {
    let Some((power, wholes, exceptions)) = decimal(array) else {
        out.push(PLAIN);
        array.values().iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
        return;
    };
    out.push(power as u8);
    out.extend_from_slice(&(exceptions.len() as u32).to_le_bytes());
    for (row, value) in exceptions {
        out.extend_from_slice(&(row as u32).to_le_bytes());
        out.extend_from_slice(&value.to_le_bytes());
    }
    pack(&wholes, out);
}

type Decimals = (usize, Vec<i64>, Vec<(usize, f64)>);

/// The best power with its whole numbers and exceptions, unless these are too many.
fn decimal(array: &Float64Array) -> Option<Decimals> {
    let power = best_power(array);
    let (mut wholes, mut exceptions, mut last) = (Vec::with_capacity(array.len()), vec![], 0);
    for (row, value) in array.iter().enumerate() {
        match value.map(|value| whole(value, POWERS[power]).ok_or(value)) {
            Some(Ok(number)) => last = number,
            Some(Err(value)) => exceptions.push((row, value)),
            None => {}
        }
        // In place of NULL or an exception: what widens no block.
        wholes.push(last);
    }
    (exceptions.len() * EXCEPTION_SHARE <= array.len()).then_some((power, wholes, exceptions))
}

/// The least power by which the most values of a sample are whole.
fn best_power(array: &Float64Array) -> usize {
    let step = (array.len() / SAMPLE_ROWS).max(1);
    let sample: Vec<f64> = array.iter().flatten().step_by(step).collect();
    let wholes = |power: &usize| {
        sample.iter().filter(|value| whole(**value, POWERS[*power]).is_some()).count()
    };
    // Of equal ones `max_by_key` takes the last.
    (0..POWERS.len()).rev().max_by_key(wholes).unwrap_or_default()
}

/// Encoded doubles whose lengths were checked.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EncodedDoubles<'a> {
    Plain(&'a [[u8; 8]]),
    Decimal { power: f64, exceptions: &'a [[u8; EXCEPTION_BYTES]], wholes: PackedIntegers<'a> },
}

impl<'a> EncodedDoubles<'a> {
    pub(crate) fn read(rows: usize, bytes: &mut Cursor<'a>) -> Result<Self> {
        let [power] = bytes.array()?;
        if power == PLAIN {
            return Ok(Self::Plain(bytes.take(rows * 8)?.as_chunks().0));
        }
        let power = POWERS.get(usize::from(power)).ok_or_else(|| damaged("names no power"))?;
        let count = bytes.u32()? as usize;
        if count > rows {
            return Err(damaged("has more exceptions than rows"));
        }
        let (exceptions, _) = bytes.take(count * EXCEPTION_BYTES)?.as_chunks();
        Ok(Self::Decimal { power: *power, exceptions, wholes: PackedIntegers::read(rows, bytes)? })
    }

    /// `rows` values from row `first` on, which begins a block.
    pub(crate) fn decode(self, first: usize, rows: usize) -> Vec<f64> {
        let (power, exceptions, wholes) = match self {
            Self::Plain(values) => {
                let values = &values[first..first + rows];
                return values.iter().map(|value| f64::from_le_bytes(*value)).collect();
            }
            Self::Decimal { power, exceptions, wholes } => (power, exceptions, wholes),
        };
        let mut numbers = Vec::new();
        wholes.unpack(first / BLOCK_ROWS, rows, &mut numbers);
        let mut values: Vec<f64> =
            numbers.into_iter().map(|number| number as f64 / power).collect();
        for exception in exceptions {
            let [row @ .., _, _, _, _, _, _, _, _] = *exception;
            let [_, _, _, _, value @ ..] = *exception;
            let place = (u32::from_le_bytes(row) as usize).checked_sub(first);
            if let Some(slot) = place.and_then(|place| values.get_mut(place)) {
                *slot = f64::from_le_bytes(value);
            }
        }
        values
    }
}
