//! The type that holds the values of two columns, of files that become one table.

use arrow::datatypes::{
    DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType, Field, FieldRef, TimeUnit,
};

use crate::type_guess::json_field;
use crate::type_name::{is_binary_field, is_json_field, is_variant_field};

/// What is found of two types.
pub(crate) enum WiderType {
    /// The field that holds the values of both.
    Field(Field),
    /// Only the values can tell whether a number type holds all of them.
    OfNumbers,
    /// Only the values show whether timestamps of this unit reach all of them.
    OfMoments(TimeUnit),
}

/// The field for the values of two columns of one name.
pub(crate) fn wider(a: &Field, b: &Field) -> WiderType {
    use DataType::{Date64, Float16, Float32, Float64, Null, Timestamp};
    let (a, b) = (&plain_field(a), &plain_field(b));
    if a.data_type() == b.data_type() && has_one_meaning(a, b) {
        return WiderType::Field(a.clone());
    }
    let is_float = |data_type: &DataType| matches!(data_type, Float16 | Float32 | Float64);
    match (a.data_type(), b.data_type()) {
        // A column that never had a value says nothing of its type.
        (Null, _) => WiderType::Field(b.clone().with_name(a.name())),
        (_, Null) => WiderType::Field(a.clone()),
        (one, other) if is_float(one) != is_float(other) && has_digits(one) | has_digits(other) => {
            let whole = if is_float(one) { other } else { one };
            match digits(whole) {
                // A double holds each of them.
                Some((before, 0)) if before < 16 => field(a, Float64),
                _ => WiderType::OfNumbers,
            }
        }
        (Timestamp(one, _), Timestamp(other, _)) => moments(a, *one, *other),
        (Timestamp(one, _), Date64) | (Date64, Timestamp(one, _)) => {
            moments(a, *one, TimeUnit::Millisecond)
        }
        (one, other) if one.is_nested() || other.is_nested() => {
            WiderType::Field(wider_nested(a, b).unwrap_or_else(|| json_field(a.name())))
        }
        (one, other) => field(a, wider_plain(one, other)),
    }
}

fn field(named: &Field, data_type: DataType) -> WiderType {
    WiderType::Field(Field::new(named.name(), data_type, true))
}

/// The finer unit. Nanoseconds reach from 1677 to 2262 only.
fn moments(named: &Field, one: TimeUnit, other: TimeUnit) -> WiderType {
    let finer = if fraction_digits(one) > fraction_digits(other) { one } else { other };
    match finer == TimeUnit::Nanosecond && one != other {
        true => WiderType::OfMoments(finer),
        false => field(named, DataType::Timestamp(finer, None)),
    }
}

/// The type for values of two types that are not nested: text, if no other holds them.
fn wider_plain(one: &DataType, other: &DataType) -> DataType {
    use DataType::{Binary, FixedSizeBinary, Float64, Int64, Time32, Time64, Utf8};
    if let (Some((before, behind)), Some((other_before, other_behind))) =
        (digits(one), digits(other))
    {
        let (before, behind) = (before.max(other_before), behind.max(other_behind));
        if one.is_integer() && other.is_integer() && before < 20 {
            return Int64;
        }
        return match before + behind {
            digits @ 0..=DECIMAL128_MAX_PRECISION => DataType::Decimal128(digits, behind as i8),
            digits @ 0..=DECIMAL256_MAX_PRECISION => DataType::Decimal256(digits, behind as i8),
            _ => Utf8,
        };
    }
    match (one, other) {
        (one, other) if one.is_floating() && other.is_floating() => Float64,
        (Time32(_) | Time64(_), Time32(_) | Time64(_)) => Time64(TimeUnit::Nanosecond),
        (Binary | FixedSizeBinary(_), Binary | FixedSizeBinary(_)) => Binary,
        _ => Utf8,
    }
}

/// The nested type for values of two nested types, if it holds all of them exactly.
fn wider_nested(a: &Field, b: &Field) -> Option<Field> {
    use DataType::{List, Map, Struct};
    let data_type = match (a.data_type(), b.data_type()) {
        (List(one), List(other)) => List(wider_part(one, other)?),
        (Map(one, is_sorted), Map(other, _)) => Map(wider_part(one, other)?, *is_sorted),
        (Struct(one), Struct(other)) => {
            let named = |part: &FieldRef, others: &arrow::datatypes::Fields| {
                let is_same = |other: &&FieldRef| other.name().eq_ignore_ascii_case(part.name());
                others.iter().find(is_same).cloned()
            };
            // With other members they are JSON, as in files of JSON.
            let both = one.iter().map(|part| wider_part(part, &named(part, other)?));
            let both = both.collect::<Option<Vec<FieldRef>>>()?;
            (one.len() == other.len()).then(|| Struct(both.into()))?
        }
        _ => return None,
    };
    Some(Field::new(a.name(), data_type, true))
}

fn wider_part(one: &FieldRef, other: &FieldRef) -> Option<FieldRef> {
    let is_nullable = one.is_nullable() || other.is_nullable();
    match wider(one, other) {
        // A part that becomes JSON has no cast of its own: the whole column becomes JSON.
        WiderType::Field(field) if !is_json_field(&field) || is_json_field(one) => {
            let is_text = field.data_type() == &DataType::Utf8;
            let was_text =
                |part: &Field| matches!(part.data_type(), DataType::Utf8 | DataType::Null);
            let keeps_kind = !is_text || was_text(one) && was_text(other);
            keeps_kind.then(|| field.with_nullable(is_nullable).into())
        }
        _ => None,
    }
}

/// The field with the simplest of the types that hold the same values.
fn plain_field(field: &Field) -> Field {
    use DataType::*;
    let part = |part: &FieldRef| -> FieldRef { plain_field(part).into() };
    let data_type = match field.data_type() {
        // How values are packed says nothing of what they are.
        Dictionary(_, values) => {
            let values = Field::new(field.name(), values.as_ref().clone(), true);
            plain_field(&values).data_type().clone()
        }
        RunEndEncoded(_, values) => plain_field(values).data_type().clone(),
        LargeUtf8 | Utf8View => Utf8,
        LargeBinary | BinaryView => Binary,
        Decimal32(precision, scale) | Decimal64(precision, scale) => Decimal128(*precision, *scale),
        // One name for the items: writers differ in it.
        List(item)
        | LargeList(item)
        | FixedSizeList(item, _)
        | ListView(item)
        | LargeListView(item) => List(part(item).as_ref().clone().with_name("item").into()),
        Map(entries, is_sorted) => Map(plain_entries(entries), *is_sorted),
        Struct(fields) => Struct(fields.iter().map(part).collect()),
        other => other.clone(),
    };
    field.clone().with_data_type(data_type)
}

/// The entries of a map under the names that tables use: writers differ in them.
fn plain_entries(entries: &FieldRef) -> FieldRef {
    let DataType::Struct(fields) = entries.data_type() else { return entries.clone() };
    let names = ["keys", "values"];
    let parts = fields.iter().zip(names);
    let parts = parts.map(|(part, name)| FieldRef::from(plain_field(part).with_name(name)));
    let entry = DataType::Struct(parts.collect());
    Field::new("entries", entry, false).into()
}

/// Whether the values of two columns of one type mean the same.
fn has_one_meaning(a: &Field, b: &Field) -> bool {
    [is_json_field, is_binary_field, is_variant_field].iter().all(|is| is(a) == is(b))
}

fn has_digits(data_type: &DataType) -> bool {
    digits(data_type).is_some()
}

/// The most digits of an exact number before and after the point.
fn digits(data_type: &DataType) -> Option<(u8, u8)> {
    Some(match data_type {
        DataType::Int8 | DataType::UInt8 => (3, 0),
        DataType::Int16 | DataType::UInt16 => (5, 0),
        DataType::Int32 | DataType::UInt32 => (10, 0),
        DataType::Int64 => (19, 0),
        DataType::UInt64 => (20, 0),
        DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale) => {
            (precision.saturating_add_signed(-*scale), u8::try_from(*scale).unwrap_or(0))
        }
        _ => return None,
    })
}

fn fraction_digits(unit: TimeUnit) -> u32 {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    }
}
