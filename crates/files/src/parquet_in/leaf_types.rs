//! The types of the columns of a Parquet file, and those under which the decoder gives them.
//!
//! The decoder counts INT96 in nanoseconds, which wrap around beyond the year 2262, and drops the
//! months of INTERVAL. Both have twelve bytes, so the field says that they are bytes; `raw_values`
//! makes values of them.

use std::collections::HashMap;
use std::ops::Range;
use std::slice::Iter;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Fields, IntervalUnit, TimeUnit};
use parquet::basic::{ConvertedType, LogicalType, Type as PhysicalType};
use parquet::errors::Result;
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor, Type};

use crate::nested_part::part_of;
use crate::type_name::TYPE_VARIANT;
use crate::{TYPE_BINARY, TYPE_JSON, TYPE_KEY};

/// The bytes of an INT96 and of an INTERVAL.
const RAW_BYTES: i32 = 12;

/// A type with its INT96 and INTERVAL parts as plain bytes; none if it has no such part.
pub(super) fn as_bytes(told: &Type) -> Result<Option<Type>> {
    let info = told.get_basic_info();
    let id = info.has_id().then(|| info.id());
    if told.is_primitive() {
        if !is_raw(told) {
            return Ok(None);
        }
        // Without its annotation: the decoder has no say in what the bytes mean.
        let bytes = Type::primitive_type_builder(told.name(), PhysicalType::FIXED_LEN_BYTE_ARRAY)
            .with_repetition(info.repetition())
            .with_length(RAW_BYTES)
            .with_id(id);
        return bytes.build().map(Some);
    }
    let parts = told.get_fields().iter().map(|part| as_bytes(part)).collect::<Result<Vec<_>>>()?;
    if parts.iter().all(Option::is_none) {
        return Ok(None);
    }
    let kept = parts.into_iter().zip(told.get_fields());
    let parts = kept.map(|(part, own)| part.map_or_else(|| Arc::clone(own), Arc::new));
    let group = Type::group_type_builder(told.name())
        .with_converted_type(info.converted_type())
        .with_logical_type(info.logical_type_ref().cloned())
        .with_fields(parts.collect())
        .with_id(id);
    // Only the root is neither optional nor repeated nor required.
    let group = match info.has_repetition() {
        true => group.with_repetition(info.repetition()),
        false => group,
    };
    group.build().map(Some)
}

fn is_raw(leaf: &Type) -> bool {
    let info = leaf.get_basic_info();
    match leaf.get_physical_type() {
        // Of a column of nothing but NULL the decoder reads no values.
        PhysicalType::INT96 => info.logical_type_ref() != Some(&LogicalType::Unknown),
        PhysicalType::FIXED_LEN_BYTE_ARRAY => info.converted_type() == ConvertedType::INTERVAL,
        _ => false,
    }
}

/// The position of a column in the file. A group without fields is not a column, so that the
/// columns after it shift by one position.
pub(super) struct ColumnPlace {
    /// Among the fields at the root.
    pub(super) root: usize,
    /// Its leaves among those of the file.
    leaves: Range<usize>,
}

pub(super) fn column_places(decoded: &Fields, told: &SchemaDescriptor) -> Vec<ColumnPlace> {
    let mut leaf = 0;
    let place = |field: &FieldRef| {
        let leaves = leaf..(leaf + leaf_count(field.data_type())).min(told.num_columns());
        leaf = leaves.end;
        // Arrow has as many leaves as Parquet, so the first one is there.
        let root = told.get_column_root_idx(leaves.start.min(told.num_columns() - 1));
        ColumnPlace { root, leaves }
    };
    decoded.iter().map(place).collect()
}

/// The column with the types that its values have, once bytes are values again.
pub(super) fn declared_field(
    decoded: &FieldRef,
    place: &ColumnPlace,
    told: &SchemaDescriptor,
    unit: TimeUnit,
) -> FieldRef {
    let mut leaves = told.columns()[place.leaves.clone()].iter();
    let field = declared(decoded, &mut leaves, unit);
    match has_variant(&told.root_schema().get_fields()[place.root]) {
        true => Arc::new(marked(field.as_ref().clone(), TYPE_VARIANT)),
        false => field,
    }
}

/// Whether a column is of INT96, or has such parts.
pub(super) fn has_int96(place: &ColumnPlace, told: &SchemaDescriptor) -> bool {
    let mut leaves = told.columns()[place.leaves.clone()].iter();
    leaves.any(|leaf| leaf.physical_type() == PhysicalType::INT96)
}

fn has_variant(part: &Type) -> bool {
    let logical = part.get_basic_info().logical_type_ref();
    let mut parts = if part.is_group() { part.get_fields() } else { &[] }.iter();
    matches!(logical, Some(LogicalType::Variant(_))) || parts.any(|part| has_variant(part))
}

/// The name of a group at the root that has no fields.
pub(super) fn empty_group(told: &SchemaDescriptor) -> Option<&str> {
    fn has_leaf(part: &Type) -> bool {
        part.is_primitive() || part.get_fields().iter().any(|part| has_leaf(part))
    }
    let groups = told.root_schema().get_fields().iter();
    groups.map(AsRef::as_ref).find(|part| !has_leaf(part)).map(Type::name)
}

fn leaf_count(data_type: &DataType) -> usize {
    match data_type {
        DataType::Struct(fields) => fields.iter().map(|field| leaf_count(field.data_type())).sum(),
        nested => part_of(nested).map_or(1, |part| leaf_count(part.data_type())),
    }
}

/// The field with the types that its leaves have in the file. Both list their leaves in one order.
fn declared(field: &FieldRef, leaves: &mut Iter<ColumnDescPtr>, unit: TimeUnit) -> FieldRef {
    let data_type = match field.data_type() {
        DataType::Struct(fields) => {
            DataType::Struct(fields.iter().map(|part| declared(part, leaves, unit)).collect())
        }
        DataType::List(part) => DataType::List(declared(part, leaves, unit)),
        DataType::LargeList(part) => DataType::LargeList(declared(part, leaves, unit)),
        DataType::ListView(part) => DataType::ListView(declared(part, leaves, unit)),
        DataType::LargeListView(part) => DataType::LargeListView(declared(part, leaves, unit)),
        DataType::FixedSizeList(part, width) => {
            DataType::FixedSizeList(declared(part, leaves, unit), *width)
        }
        DataType::Map(part, is_sorted) => DataType::Map(declared(part, leaves, unit), *is_sorted),
        _ => {
            let leaf = leaves.next();
            return leaf.map_or_else(|| Arc::clone(field), |leaf| leaf_field(field, leaf, unit));
        }
    };
    Arc::new(field.as_ref().clone().with_data_type(data_type))
}

fn leaf_field(field: &FieldRef, leaf: &ColumnDescPtr, unit: TimeUnit) -> FieldRef {
    let own = || field.as_ref().clone();
    let logical = leaf.logical_type_ref();
    // What the embedded Arrow schema says of a field precedes the annotation.
    let is_extended = field.metadata().contains_key(TYPE_KEY);
    Arc::new(match field.data_type() {
        DataType::FixedSizeBinary(RAW_BYTES) if leaf.physical_type() == PhysicalType::INT96 => {
            own().with_data_type(DataType::Timestamp(unit, None))
        }
        DataType::FixedSizeBinary(RAW_BYTES)
            if leaf.converted_type() == ConvertedType::INTERVAL =>
        {
            own().with_data_type(DataType::Interval(IntervalUnit::MonthDayNano))
        }
        // Some writers have bytes of that width that are not UUIDs, and Arrow writes UUIDs without
        // saying so in Parquet's own types.
        DataType::FixedSizeBinary(16) if logical != Some(&LogicalType::Uuid) && !is_extended => {
            marked(own(), TYPE_BINARY)
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
            if leaf.converted_type() == ConvertedType::JSON && !is_extended =>
        {
            marked(own(), TYPE_JSON)
        }
        _ => return Arc::clone(field),
    })
}

fn marked(field: Field, name: &str) -> Field {
    let mut metadata: HashMap<_, _> = field.metadata().clone();
    metadata.insert(TYPE_KEY.to_owned(), name.to_owned());
    field.with_metadata(metadata)
}
