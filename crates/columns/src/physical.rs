//! Arrays as whole numbers or as values of bytes, whatever their types mean.

use std::ops::RangeInclusive;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BooleanArray, Decimal128Array, Decimal256Array,
    FixedSizeBinaryArray, PrimitiveArray, StringArray, make_array,
};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Decimal128Type, Decimal256Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type, i256,
};
use tonnage_engine::{Error, Result};

use crate::cursor::damaged;
use crate::texts::Values;

/// The bytes of a decimal, and of a wide one.
const DECIMAL_BYTES: usize = 16;
const WIDE_DECIMAL_BYTES: usize = 32;
/// Moves unsigned numbers of 64 bits into the signed ones, in their order.
const SIGN: u64 = 1 << 63;

/// The plain number that a type is stored as.
fn physical_type(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Date32 | DataType::Time32(_) => DataType::Int32,
        DataType::Date64 | DataType::Time64(_) | DataType::Timestamp(..) => DataType::Int64,
        DataType::Float32 => DataType::UInt32,
        other => other.clone(),
    }
}

/// The same bits under another type of the same width.
fn retyped(array: &dyn Array, data_type: DataType) -> Result<ArrayRef> {
    let data = array.to_data().into_builder().data_type(data_type).build();
    data.map(make_array).map_err(|error| damaged(&format!("has no values of its type ({error})")))
}

/// The numbers of an array; nothing where its type has none, or one of them is too large. A NULL is
/// stored as the number before it, which widens no block.
pub(crate) fn numbers_of(array: &dyn Array) -> Result<Option<Vec<i64>>> {
    // Dates and times are numbers of the same width.
    let array = &retyped(array, physical_type(array.data_type()))?;
    fn all<T: ArrowPrimitiveType>(
        array: &dyn Array,
        number: impl Fn(T::Native) -> i64,
    ) -> Option<Vec<i64>> {
        let values = array.as_primitive::<T>();
        continued(values.iter().map(|value| value.map(&number)), array.len())
    }
    Ok(match array.data_type() {
        DataType::Boolean => {
            continued(array.as_boolean().iter().map(|value| value.map(i64::from)), array.len())
        }
        DataType::Int8 => all::<Int8Type>(array, i64::from),
        DataType::Int16 => all::<Int16Type>(array, i64::from),
        DataType::Int32 => all::<Int32Type>(array, i64::from),
        DataType::Int64 => all::<Int64Type>(array, |number| number),
        DataType::UInt8 => all::<UInt8Type>(array, i64::from),
        DataType::UInt16 => all::<UInt16Type>(array, i64::from),
        DataType::UInt32 => all::<UInt32Type>(array, i64::from),
        DataType::UInt64 => all::<UInt64Type>(array, |number| (number ^ SIGN) as i64),
        DataType::Decimal128(..) => {
            let decimals = array.as_primitive::<Decimal128Type>();
            // One wide value is enough: they are few, or the column is wide.
            if decimals.iter().flatten().any(|value| i64::try_from(value).is_err()) {
                return Ok(None);
            }
            all::<Decimal128Type>(array, |value| value as i64)
        }
        _ => None,
    })
}

/// The least and the greatest number that values are stored as, where the order of numbers is that of
/// the values: not for floats, for values that are too large, and where all are NULL.
///
/// # Errors
/// `Corruption` for values that the type has not.
pub fn bounds_of(array: &dyn Array) -> Result<Option<RangeInclusive<i64>>> {
    if *array.data_type() == DataType::Float32 || array.null_count() == array.len() {
        return Ok(None);
    }
    // A NULL has the number of another value.
    let Some(numbers) = numbers_of(array)? else { return Ok(None) };
    let (least, greatest) = (numbers.iter().min(), numbers.iter().max());
    Ok(least.zip(greatest).map(|(least, greatest)| *least..=*greatest))
}

fn continued(values: impl Iterator<Item = Option<i64>>, rows: usize) -> Option<Vec<i64>> {
    let (mut numbers, mut last) = (Vec::with_capacity(rows), None);
    // NULLs that lead, where no number has come yet, take the first one: found by filling later.
    let mut leading = 0;
    for value in values {
        last = value.or(last);
        match last {
            Some(number) => numbers.push(number),
            None => leading += 1,
        }
    }
    let first = numbers.first().copied().unwrap_or_default();
    numbers.splice(0..0, std::iter::repeat_n(first, leading));
    Some(numbers)
}

/// An array of a type that [`numbers_of`] takes.
pub(crate) fn array_of_numbers(
    data_type: &DataType,
    numbers: Vec<i64>,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    fn all<T: ArrowPrimitiveType>(
        numbers: Vec<i64>,
        nulls: Option<NullBuffer>,
        value: impl Fn(i64) -> Option<T::Native>,
    ) -> Result<PrimitiveArray<T>> {
        let values: Option<Vec<T::Native>> = numbers.into_iter().map(value).collect();
        let values = values.ok_or_else(|| damaged("has numbers that its type has not"))?;
        Ok(PrimitiveArray::new(ScalarBuffer::from(values), nulls))
    }
    fn narrow<T: ArrowPrimitiveType>(
        numbers: Vec<i64>,
        nulls: Option<NullBuffer>,
    ) -> Result<PrimitiveArray<T>>
    where
        T::Native: TryFrom<i64>,
    {
        all(numbers, nulls, |number| T::Native::try_from(number).ok())
    }
    // A chunk may be damaged below a right checksum: each number is held against its type.
    let array: ArrayRef = match physical_type(data_type) {
        DataType::Boolean => {
            if numbers.iter().any(|number| !(0..=1).contains(number)) {
                return Err(damaged("has numbers that its type has not"));
            }
            let bits = BooleanBuffer::collect_bool(numbers.len(), |row| numbers[row] == 1);
            Arc::new(BooleanArray::new(bits, nulls))
        }
        DataType::Int8 => Arc::new(narrow::<Int8Type>(numbers, nulls)?),
        DataType::Int16 => Arc::new(narrow::<Int16Type>(numbers, nulls)?),
        DataType::Int32 => Arc::new(narrow::<Int32Type>(numbers, nulls)?),
        DataType::Int64 => Arc::new(narrow::<Int64Type>(numbers, nulls)?),
        DataType::UInt8 => Arc::new(narrow::<UInt8Type>(numbers, nulls)?),
        DataType::UInt16 => Arc::new(narrow::<UInt16Type>(numbers, nulls)?),
        DataType::UInt32 => Arc::new(narrow::<UInt32Type>(numbers, nulls)?),
        DataType::UInt64 => {
            let value = |number| Some(number as u64 ^ SIGN);
            Arc::new(all::<UInt64Type>(numbers, nulls, value)?)
        }
        DataType::Decimal128(..) => {
            let array = narrow::<Decimal128Type>(numbers, nulls)?;
            return decimals(array, data_type);
        }
        _ => return Err(damaged("holds numbers, which its type has not")),
    };
    // Back from the number to the date or time.
    retyped(&array, data_type.clone())
}

fn decimals(array: Decimal128Array, data_type: &DataType) -> Result<ArrayRef> {
    retyped(&array, data_type.clone())
}

/// The bytes of each value of an array.
pub(crate) fn values_of(array: &dyn Array) -> Result<Values> {
    let mut values = Values::with_rows(array.len());
    // A NULL is an empty value, or, where all have one length, a value of zeros.
    match array.data_type() {
        DataType::Utf8 => {
            array.as_string::<i32>().iter().for_each(|text| {
                values.push(text.unwrap_or_default().as_bytes());
            });
        }
        DataType::Binary => {
            array.as_binary::<i32>().iter().for_each(|bytes| {
                values.push(bytes.unwrap_or_default());
            });
        }
        DataType::FixedSizeBinary(len) if *len > 0 => {
            let zeros = vec![0; *len as usize];
            array.as_fixed_size_binary().iter().for_each(|bytes| {
                values.push(bytes.unwrap_or(&zeros));
            });
        }
        DataType::Decimal128(..) => {
            array.as_primitive::<Decimal128Type>().iter().for_each(|value| {
                values.push(&value.unwrap_or_default().to_le_bytes());
            });
        }
        DataType::Decimal256(..) => {
            array.as_primitive::<Decimal256Type>().iter().for_each(|value| {
                values.push(&value.unwrap_or_default().to_le_bytes());
            });
        }
        // What callers keep as the bytes of its cells comes as binary values.
        other => {
            return Err(Error::unsupported(format!(
                "columns of type {other} are kept as the bytes of their cells: encode these"
            )));
        }
    }
    Ok(values)
}

/// An array of a type that [`values_of`] takes.
pub(crate) fn array_of_values(
    data_type: &DataType,
    values: Values,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let wrong = |error| damaged(&format!("has no values of its type ({error})"));
    let array: ArrayRef = match data_type {
        // Arrow checks that the bytes are text, and that no value ends within a character.
        DataType::Utf8 => {
            let (ends, bytes) = offsets(values)?;
            Arc::new(StringArray::try_new(ends, bytes, nulls).map_err(wrong)?)
        }
        DataType::Binary => {
            let (ends, bytes) = offsets(values)?;
            Arc::new(BinaryArray::try_new(ends, bytes, nulls).map_err(wrong)?)
        }
        // Values of no bytes would tell no number of rows.
        DataType::FixedSizeBinary(len) if *len > 0 => {
            let bytes = values.bytes_of_length(*len as usize)?;
            let array = FixedSizeBinaryArray::try_new(*len, bytes.into(), nulls);
            Arc::new(array.map_err(wrong)?)
        }
        DataType::Decimal128(..) => {
            let bytes = values.bytes_of_length(DECIMAL_BYTES)?;
            let (values, _) = bytes.as_chunks::<DECIMAL_BYTES>();
            let values: Vec<i128> =
                values.iter().map(|value| i128::from_le_bytes(*value)).collect();
            return decimals(Decimal128Array::new(values.into(), nulls), data_type);
        }
        DataType::Decimal256(..) => {
            let bytes = values.bytes_of_length(WIDE_DECIMAL_BYTES)?;
            let (values, _) = bytes.as_chunks::<WIDE_DECIMAL_BYTES>();
            let values: Vec<i256> =
                values.iter().map(|value| i256::from_le_bytes(*value)).collect();
            let array = Decimal256Array::new(values.into(), nulls);
            return retyped(&array, data_type.clone());
        }
        _ => return Err(damaged("holds bytes, which its type has not")),
    };
    Ok(array)
}

fn offsets(values: Values) -> Result<(OffsetBuffer<i32>, Buffer)> {
    let (ends, bytes) = values.into_parts()?;
    Ok((OffsetBuffer::new(ends.into()), bytes.into()))
}
