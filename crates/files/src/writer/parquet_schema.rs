//! The types of Parquet for the columns that are written, as other readers know them.
//!
//! - Lists and maps have the names of the Parquet specification inside: `list` and `element`,
//!   `key_value`, `key` and `value`. Some readers find no values under other names.
//! - UUID and JSON are annotated.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Schema};
use parquet::arrow::ArrowSchemaConverter;
use parquet::basic::{LogicalType, Type as PhysicalType};
use parquet::errors::Result;
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};

use crate::nested_part::part_of;
use crate::type_name::{is_binary_field, is_json_field};

/// The schema under which the columns are written.
pub(super) fn parquet_schema(schema: &Schema) -> Result<SchemaDescriptor> {
    // The names of the specification come with days for `Date64`, which may have a time of day.
    let has_moments = schema.fields().iter().any(|field| has_date64(field.data_type()));
    let converter = ArrowSchemaConverter::new().with_coerce_types(!has_moments);
    let converted = converter.convert(schema)?;
    let mut leaves = Vec::new();
    schema.fields().iter().for_each(|field| add_leaves(field, &mut leaves));
    let root = annotated(&converted.root_schema_ptr(), &mut leaves.into_iter())?;
    Ok(SchemaDescriptor::new(root))
}

fn has_date64(data_type: &DataType) -> bool {
    match data_type {
        DataType::Date64 => true,
        DataType::Struct(fields) => fields.iter().any(|field| has_date64(field.data_type())),
        nested => part_of(nested).is_some_and(|part| has_date64(part.data_type())),
    }
}

/// The fields that have values themselves, in the order in which Parquet has them.
fn add_leaves<'a>(field: &'a FieldRef, leaves: &mut Vec<&'a Field>) {
    match field.data_type() {
        DataType::Struct(fields) => fields.iter().for_each(|field| add_leaves(field, leaves)),
        nested => match part_of(nested) {
            Some(part) => add_leaves(part, leaves),
            None => leaves.push(field),
        },
    }
}

/// The type with the annotations that its leaves need.
fn annotated<'a>(plain: &TypePtr, leaves: &mut impl Iterator<Item = &'a Field>) -> Result<TypePtr> {
    let info = plain.get_basic_info();
    let id = info.has_id().then(|| info.id());
    if plain.is_primitive() {
        let logical = leaves.next().and_then(logical_type);
        let Some(logical) = logical else { return Ok(Arc::clone(plain)) };
        // The length is asked of fixed bytes alone.
        let physical = plain.get_physical_type();
        let length = if physical == PhysicalType::FIXED_LEN_BYTE_ARRAY { 16 } else { -1 };
        let leaf = Type::primitive_type_builder(plain.name(), physical)
            .with_repetition(info.repetition())
            .with_length(length)
            .with_logical_type(Some(logical))
            .with_id(id);
        return leaf.build().map(Arc::new);
    }
    let parts = plain.get_fields().iter().map(|part| annotated(part, leaves));
    let group = Type::group_type_builder(plain.name())
        .with_converted_type(info.converted_type())
        .with_logical_type(info.logical_type_ref().cloned())
        .with_fields(parts.collect::<Result<Vec<_>>>()?)
        .with_id(id);
    // Only the root is neither optional nor repeated nor required.
    let group = match info.has_repetition() {
        true => group.with_repetition(info.repetition()),
        false => group,
    };
    group.build().map(Arc::new)
}

fn logical_type(leaf: &Field) -> Option<LogicalType> {
    match leaf.data_type() {
        DataType::FixedSizeBinary(16) if !is_binary_field(leaf) => Some(LogicalType::Uuid),
        _ if is_json_field(leaf) => Some(LogicalType::Json),
        _ => None,
    }
}
