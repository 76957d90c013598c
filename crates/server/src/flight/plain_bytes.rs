//! Casts columns of bytes to plain arrays, without dictionaries and views.
//!
//! A dictionary or a view may have few bytes and mean more than any memory holds. Arrow would
//! allocate them at once. So the bytes are counted first.

use arrow::array::{Array, ArrayRef, AsArray, OffsetSizeTrait};
use arrow::compute::cast;
use arrow::datatypes::{ArrowNativeType, ByteArrayType, DataType};
use tonnage::{Error, Result};

/// Arrow counts the bytes of a plain column with 32 bits.
const PLAIN_BYTES_MAX: u64 = i32::MAX as u64;

/// A column as one of a plain type.
///
/// # Errors
/// `Invalid` for a column that is none of bytes, `Exhausted` for one that expands to too many.
pub(super) fn plain_bytes(column: &ArrayRef, plain: &DataType) -> Result<ArrayRef> {
    plain_bytes_within(column, plain, PLAIN_BYTES_MAX)
}

fn plain_bytes_within(column: &ArrayRef, plain: &DataType, bytes_max: u64) -> Result<ArrayRef> {
    if bytes_of(column.as_ref()).is_none_or(|bytes| bytes > bytes_max) {
        return Err(Error::exhausted(format!(
            "it unpacks to more than {bytes_max} bytes: send fewer rows at once"
        )));
    }
    cast(column, plain)
        .map_err(|error| Error::invalid(format!("it is of type {}: {error}", column.data_type())))
}

/// The bytes that a column expands to; nothing for more than a number holds.
fn bytes_of(column: &dyn Array) -> Option<u64> {
    match column.data_type() {
        DataType::Binary => Some(unpacked_bytes::<arrow::datatypes::BinaryType>(column)),
        DataType::Utf8 => Some(unpacked_bytes::<arrow::datatypes::Utf8Type>(column)),
        DataType::LargeBinary => Some(unpacked_bytes::<arrow::datatypes::LargeBinaryType>(column)),
        DataType::LargeUtf8 => Some(unpacked_bytes::<arrow::datatypes::LargeUtf8Type>(column)),
        // The low half of a view is the length of its value.
        DataType::BinaryView => {
            Some(column.as_binary_view().views().iter().map(|view| u64::from(*view as u32)).sum())
        }
        DataType::Utf8View => {
            Some(column.as_string_view().views().iter().map(|view| u64::from(*view as u32)).sum())
        }
        DataType::Dictionary(..) => {
            let dictionary = column.as_any_dictionary();
            let values = dictionary.values();
            let widths = (0..values.len()).map(|value| bytes_of(values.slice(value, 1).as_ref()));
            let widths = widths.collect::<Option<Vec<u64>>>()?;
            if widths.is_empty() {
                return Some(0);
            }
            let mut keys = dictionary.normalized_keys().into_iter();
            keys.try_fold(0_u64, |bytes, key| bytes.checked_add(*widths.get(key)?))
        }
        DataType::List(_) => items::<i32>(column),
        DataType::LargeList(_) => items::<i64>(column),
        DataType::FixedSizeList(..) => bytes_of(column.as_fixed_size_list().values().as_ref()),
        // These repeat their values, too; no client sends bytes so.
        DataType::RunEndEncoded(..) | DataType::ListView(_) | DataType::LargeListView(_) => None,
        _ => Some(0),
    }
}

fn unpacked_bytes<T: ByteArrayType>(column: &dyn Array) -> u64 {
    let offsets = column.as_bytes::<T>().value_offsets();
    let end = |offset: Option<&T::Offset>| offset.map_or(0, |offset| offset.as_usize() as u64);
    end(offsets.last()) - end(offsets.first())
}

fn items<O: OffsetSizeTrait>(column: &dyn Array) -> Option<u64> {
    let list = column.as_list::<O>();
    let offsets = list.value_offsets();
    let end = |offset: Option<&O>| offset.map_or(0, |offset| offset.as_usize());
    let (first, last) = (end(offsets.first()), end(offsets.last()));
    bytes_of(list.values().slice(first, last - first).as_ref())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{
        BinaryArray, BinaryViewArray, BinaryViewBuilder, DictionaryArray, Int32Array,
        LargeBinaryArray, ListArray,
    };
    use arrow::buffer::OffsetBuffer;
    use arrow::datatypes::Field;

    use super::*;

    const VALUE: usize = 100;
    const ROWS: usize = 10;
    /// A row less than the columns mean.
    const BYTES_MAX: u64 = (VALUE * (ROWS - 1)) as u64;

    #[track_caller]
    fn assert_refused(column: &ArrayRef, plain: &DataType) {
        let refusal = plain_bytes_within(column, plain, BYTES_MAX).unwrap_err();
        assert!(refusal.message().contains("more than 900 bytes"), "{refusal}");
        assert!(plain_bytes_within(column, plain, BYTES_MAX + VALUE as u64).is_ok());
    }

    #[test]
    fn columns_that_stand_for_too_many_bytes_are_refused() {
        let values = Arc::new(LargeBinaryArray::from_vec(vec![&[7; VALUE][..]]));
        let many = DictionaryArray::new(Int32Array::from(vec![0; ROWS]), values);
        let named: ArrayRef = Arc::new(many.clone());
        assert_refused(&named, &DataType::Binary);
        let field = Arc::new(Field::new("item", many.data_type().clone(), true));
        let lengths = OffsetBuffer::from_lengths(vec![1; many.len()]);
        let lists: ArrayRef = Arc::new(ListArray::new(field, lengths, Arc::new(many), None));
        let plain = DataType::List(Arc::new(Field::new("item", DataType::Binary, true)));
        assert_refused(&lists, &plain);

        let mut views = BinaryViewBuilder::new();
        let block = views.append_block(vec![7_u8; VALUE].into());
        for _ in 0..ROWS {
            views.try_append_view(block, 0, VALUE as u32).unwrap();
        }
        let views: ArrayRef = Arc::new(views.finish());
        assert_refused(&views, &DataType::Binary);
    }

    #[test]
    fn what_stands_for_a_few_bytes_is_cast() {
        let wanted = BinaryArray::from_vec(vec![&b"a"[..], b"bc", b"a"]);
        let values = Arc::new(BinaryArray::from_vec(vec![&b"a"[..], b"bc"]));
        let named: ArrayRef =
            Arc::new(DictionaryArray::new(Int32Array::from(vec![0, 1, 0]), values));
        let views: ArrayRef = Arc::new(BinaryViewArray::from(vec![&b"a"[..], b"bc", b"a"]));
        for column in [named, views] {
            let plain = plain_bytes(&column, &DataType::Binary).unwrap();
            assert_eq!(plain.as_binary::<i32>(), &wanted);
        }
    }
}
