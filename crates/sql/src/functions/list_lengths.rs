//! How long `range` and `generate_series` make lists, and `array_to_string` texts of lists.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Int64Type, IntervalMonthDayNano, IntervalMonthDayNanoType, IntervalUnit, TimeUnit,
};
use datafusion::common::Result;

use super::given_columns::GivenColumns;

/// What an item of a series takes.
const NUMBER_BYTES: i64 = 8;
/// What an item that is not text takes at most as text.
const ITEM_TEXT_BYTES: i64 = 80;
const DAY_NS: i128 = 86_400_000_000_000;

/// `range(start, stop, step)`
pub(super) fn items_of_ranges(given: &GivenColumns) -> Result<i64> {
    let last = given.len() - 1;
    let steps_by_interval = matches!(given.array(last).data_type(), DataType::Interval(_));
    if given.len() == 3 && steps_by_interval {
        return items_of_moments(given);
    }
    if (0..given.len()).any(|place| !given.array(place).data_type().is_integer()) {
        // NULL, or what the function refuses.
        return Ok(0);
    }
    let columns = (0..given.len()).map(|place| given.numbers(place)).collect::<Result<Vec<_>>>()?;
    let at = |place: usize, row: usize| i128::from(columns[place].value(given.index(place, row)));
    Ok(given.sum(|row| match given.len() {
        1 => bytes_of_series(0, at(0, row), 1),
        2 => bytes_of_series(at(0, row), at(1, row), 1),
        _ => bytes_of_series(at(0, row), at(1, row), at(2, row)),
    }))
}

/// The bytes of a series with both ends. One without an end is as long as can be.
fn bytes_of_series(start: i128, stop: i128, step: i128) -> i64 {
    let distance = stop - start;
    // The function itself refuses a step of zero.
    if step == 0 || distance.signum() == -step.signum() {
        return 0;
    }
    i64::try_from(distance / step + 1).unwrap_or(i64::MAX).saturating_mul(NUMBER_BYTES)
}

fn items_of_moments(given: &GivenColumns) -> Result<i64> {
    let moments = |place: usize| -> Result<ArrayRef> {
        let micros = DataType::Timestamp(TimeUnit::Microsecond, None);
        Ok(cast(&cast(given.array(place), &micros)?, &DataType::Int64)?)
    };
    let (starts, stops) = (moments(0)?, moments(1)?);
    let (starts, stops) = (starts.as_primitive::<Int64Type>(), stops.as_primitive::<Int64Type>());
    let intervals = DataType::Interval(IntervalUnit::MonthDayNano);
    let steps = cast(given.array(2), &intervals)?;
    let steps = steps.as_primitive::<IntervalMonthDayNanoType>();
    Ok(given.sum(|row| {
        let nanoseconds = |micros: i64| i128::from(micros) * 1_000;
        let start = nanoseconds(starts.value(given.index(0, row)));
        let stop = nanoseconds(stops.value(given.index(1, row)));
        match shortest(steps.value(given.index(2, row))) {
            Some(step) => bytes_of_series(start, stop, step),
            None => i64::MAX,
        }
    }))
}

/// The least length of an interval; nothing for one that may be positive or negative, as a month
/// less 30 days does.
fn shortest(step: IntervalMonthDayNano) -> Option<i128> {
    let rest = i128::from(step.days) * DAY_NS + i128::from(step.nanoseconds);
    let with_months = |days: i128| i128::from(step.months) * days * DAY_NS + rest;
    let (short, long) = (with_months(28), with_months(31));
    if short.signum() != long.signum() {
        return None;
    }
    Some(if short.abs() < long.abs() { short } else { long })
}

/// `array_to_string(list, between, instead_of_null)`
pub(super) fn texts_of_lists(given: &GivenColumns) -> Result<i64> {
    let mut bytes = 0_i64;
    let between = (1..given.len()).map(|place| given.texts(place)).collect::<Result<Vec<_>>>()?;
    for row in 0..given.rows {
        let list = given.array(0).slice(given.index(0, row), 1);
        let (items, own) = leaves(&list);
        let more = between
            .iter()
            .enumerate()
            .map(|(place, texts)| i64::from(texts.value_length(given.index(place + 1, row))));
        let each = ITEM_TEXT_BYTES + more.sum::<i64>();
        bytes = bytes.saturating_add(items.saturating_mul(each)).saturating_add(own);
    }
    Ok(bytes)
}

/// How many values are in lists at last, and the bytes of those that are texts.
fn leaves(list: &ArrayRef) -> (i64, i64) {
    if let Some(lists) = list.as_list_opt::<i32>() {
        let (from, to) = (lists.value_offsets()[0], lists.value_offsets()[lists.len()]);
        return leaves(&lists.values().slice(from as usize, (to - from) as usize));
    }
    if let Some(lists) = list.as_list_opt::<i64>() {
        let (from, to) = (lists.value_offsets()[0], lists.value_offsets()[lists.len()]);
        return leaves(&lists.values().slice(from as usize, (to - from) as usize));
    }
    if let Some(lists) = list.as_fixed_size_list_opt() {
        return leaves(lists.values());
    }
    let bytes = match list.data_type().is_string() || list.data_type().is_binary() {
        true => list.to_data().get_slice_memory_size().unwrap_or(list.get_array_memory_size()),
        false => 0,
    };
    (list.len() as i64, bytes as i64)
}
