//! Functions of lists: whether one holds NULL.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::common::{Result, exec_err};

use super::scalar::{Arguments, Gives, Scalar};

/// What a value may be among the items of a list, where it is none of those that are known.
pub(super) const ALL: [Scalar; 1] = [Scalar {
    name: "_holds_null",
    form: "x = ANY (list)",
    count: (1, 1),
    gives: Gives::Type(|| DataType::Boolean),
    work: holds_null,
}];

fn holds_null(arguments: &Arguments) -> Result<ArrayRef> {
    let array = &arguments.arrays[0];
    let array = match array.data_type() {
        DataType::List(_) => array.clone(),
        DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::ListView(item)
        | DataType::LargeListView(item) => cast(array, &DataType::List(item.clone()))?,
        DataType::Null => return Ok(Arc::new(BooleanArray::new_null(arguments.rows))),
        other => return exec_err!("ANY takes a list or a subquery, not {other}"),
    };
    let lists = array.as_list::<i32>();
    let holds = |row| lists.is_valid(row).then(|| lists.value(row).logical_null_count() > 0);
    Ok(Arc::new((0..lists.len()).map(holds).collect::<BooleanArray>()))
}
