//! `array_position` and `array_positions` of the library, for lists of lists, maps and records.
//!
//! Upstream: no issue known: docs/upstream/array-position-of-null.md. Gone in: open
//!
//! It does not find NULL among these (DataFusion 55).

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{Array, AsArray, ListBuilder, UInt64Array, UInt64Builder, make_comparator};
use arrow::compute::{SortOptions, cast};
use arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::functions_nested::position::{array_position_udf, array_positions_udf};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF};

use crate::functions::wrapped;

pub(crate) fn functions() -> [ScalarUDF; 2] {
    [
        wrapped(array_position_udf(), |inner, arguments| match nested(&arguments)? {
            Some(places) => {
                let first = places.iter().map(|places| places.as_ref()?.first().copied());
                Ok(ColumnarValue::Array(Arc::new(first.collect::<UInt64Array>())))
            }
            None => inner.invoke_with_args(arguments),
        }),
        wrapped(array_positions_udf(), |inner, arguments| match nested(&arguments)? {
            Some(places) => {
                let mut lists = ListBuilder::new(UInt64Builder::new());
                for places in places {
                    lists.append_option(places.map(|places| places.into_iter().map(Some)));
                }
                Ok(ColumnarValue::Array(Arc::new(lists.finish())))
            }
            None => inner.invoke_with_args(arguments),
        }),
    ]
}

/// The positions of a value in the list of each row, from 1; `None` for a list that is NULL.
/// Nothing where the items are plain values.
fn nested(arguments: &ScalarFunctionArgs) -> Result<Option<Vec<Option<Vec<u64>>>>> {
    let [lists, wanted] = arguments.args.as_slice() else { return Ok(None) };
    let item = match lists.data_type() {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
            if item.data_type().is_nested() =>
        {
            item
        }
        _ => return Ok(None),
    };
    let rows = arguments.number_rows;
    let lists = cast(&lists.to_array(rows)?, &DataType::List(item.clone()))?;
    let lists = lists.as_list::<i32>();
    // Both sides must be of one type down to their innermost items, or nothing compares them.
    let wanted = cast(&wanted.to_array(rows)?, item.data_type())?;
    // The comparator takes NULL for a value like others, which the library does not.
    let comparator = make_comparator(lists.values(), &wanted, SortOptions::default())?;
    let places = |row: usize| {
        let (from, to) = (lists.value_offsets()[row] as usize, lists.value_offsets()[row + 1]);
        let is_found = |at: &usize| comparator(*at, row) == Ordering::Equal;
        let places = (from..to as usize).filter(is_found).map(|at| (at - from + 1) as u64);
        lists.is_valid(row).then(|| places.collect())
    };
    Ok(Some((0..rows).map(places).collect()))
}
