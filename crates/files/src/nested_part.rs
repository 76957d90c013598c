//! The parts of nested types.

use arrow::datatypes::{DataType, FieldRef};

/// What a list is a list of, or a map a map of.
pub(crate) fn part_of(nested: &DataType) -> Option<&FieldRef> {
    match nested {
        DataType::List(part)
        | DataType::LargeList(part)
        | DataType::ListView(part)
        | DataType::LargeListView(part)
        | DataType::FixedSizeList(part, _)
        | DataType::Map(part, _) => Some(part),
        _ => None,
    }
}
