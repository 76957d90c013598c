//! Functions of lists: whether one holds NULL, one without it, and which of two comes first.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int64Array, ListArray, make_comparator,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::{SortOptions, cast, filter, interleave, is_not_null};
use arrow::datatypes::DataType;
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::Expr;

use super::scalar::{Arguments, Gives, Scalar, ScalarWork};

/// Whether NULL is among the items.
const HOLDS_NULL: Scalar = Scalar {
    name: "_holds_null",
    form: "x = ANY (list)",
    count: (1, 1),
    gives: Gives::Type(|| DataType::Boolean),
    work: of_holding,
};
/// The items that are there.
const WITHOUT_NULL: Scalar = Scalar {
    name: "_without_null",
    form: "list && list",
    count: (1, 1),
    gives: Gives::First,
    work: of_items,
};
/// Less than, equal to or greater than 0, as the first comes before the second or after it.
const COMPARE: Scalar = Scalar {
    name: "_compare",
    form: "list < list",
    count: (2, 2),
    gives: Gives::Type(|| DataType::Int64),
    work: compare,
};

const GREATEST: Scalar = extreme("_greatest", "greatest(list, list)", |arguments| {
    first_in_order(arguments, Ordering::Greater)
});
const LEAST: Scalar =
    extreme("_least", "least(list, list)", |arguments| first_in_order(arguments, Ordering::Less));

pub(super) const ALL: [Scalar; 5] = [HOLDS_NULL, WITHOUT_NULL, COMPARE, GREATEST, LEAST];

const fn extreme(name: &'static str, form: &'static str, work: ScalarWork) -> Scalar {
    Scalar { name, form, count: (1, usize::MAX), gives: Gives::First, work }
}

/// Whether a list holds NULL.
pub(crate) fn holds_null(list: Expr) -> Expr {
    HOLDS_NULL.call(vec![list])
}

/// A list without its NULL items.
pub(crate) fn without_null(list: Expr) -> Expr {
    WITHOUT_NULL.call(vec![list])
}

/// The order of two lists or records.
pub(crate) fn comparison(left: Expr, right: Expr) -> Expr {
    COMPARE.call(vec![left, right])
}

/// The greatest or least of lists or records of one type.
pub(crate) fn extreme_of(values: Vec<Expr>, is_max: bool) -> Expr {
    if is_max { GREATEST.call(values) } else { LEAST.call(values) }
}

fn of_holding(arguments: &Arguments) -> Result<ArrayRef> {
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

fn of_items(arguments: &Arguments) -> Result<ArrayRef> {
    let array = &arguments.arrays[0];
    let Some(lists) = array.as_list_opt::<i32>() else { return Ok(array.clone()) };
    if lists.values().logical_null_count() == 0 {
        return Ok(array.clone());
    }
    let is_there = is_not_null(lists.values())?;
    let mut kept = vec![0_usize; is_there.len() + 1];
    for item in 0..is_there.len() {
        kept[item + 1] = kept[item] + usize::from(is_there.value(item));
    }
    let ends = lists.offsets().windows(2).map(|ends| (ends[0] as usize, ends[1] as usize));
    let lengths: Vec<usize> = ends.map(|(from, to)| kept[to] - kept[from]).collect();
    let (first, last) = (lists.offsets()[0] as usize, lists.offsets()[lists.len()] as usize);
    let own = lists.values().slice(first, last - first);
    let items = filter(&own, &is_there.slice(first, last - first))?;
    let DataType::List(item) = array.data_type() else { return Ok(array.clone()) };
    let offsets = OffsetBuffer::from_lengths(lengths);
    Ok(Arc::new(ListArray::try_new(item.clone(), offsets, items, lists.nulls().cloned())?))
}

/// NULL within is greater than all others.
const ORDER: SortOptions = SortOptions { descending: false, nulls_first: false };

fn compare(arguments: &Arguments) -> Result<ArrayRef> {
    let [left, right] = arguments.arrays.as_slice() else {
        return exec_err!("{} takes two values", arguments.name);
    };
    let comparator = make_comparator(left, right, ORDER)?;
    let (no_left, no_right) = (left.logical_nulls(), right.logical_nulls());
    let order = |row| {
        (!is_null(&no_left, row) && !is_null(&no_right, row)).then(|| match comparator(row, row) {
            Ordering::Less => -1_i64,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        })
    };
    Ok(Arc::new((0..arguments.rows).map(order).collect::<Int64Array>()))
}

/// Of each row the value that compares so with all others; values that are not there do not count.
fn first_in_order(arguments: &Arguments, wanted: Ordering) -> Result<ArrayRef> {
    let mut best = arguments.arrays[0].clone();
    for other in &arguments.arrays[1..] {
        let comparator = make_comparator(other, &best, ORDER)?;
        let (no_other, no_best) = (other.logical_nulls(), best.logical_nulls());
        let is_other = |row| {
            !is_null(&no_other, row) && (is_null(&no_best, row) || comparator(row, row) == wanted)
        };
        let places: Vec<(usize, usize)> =
            (0..arguments.rows).map(|row| (usize::from(is_other(row)), row)).collect();
        best = interleave(&[best.as_ref(), other.as_ref()], &places)?;
    }
    Ok(best)
}

fn is_null(nulls: &Option<NullBuffer>, row: usize) -> bool {
    nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
}
