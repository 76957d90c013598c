//! A condition on one column, and the domain that several conditions leave of it.

use std::cmp::Ordering;

use arrow::array::{Array, ArrayRef, AsArray, UInt32Array, make_comparator};
use arrow::compute::{SortOptions, filter, is_not_null, sort_to_indices, take};
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use tonnage::internal::ColumnRange;
use tonnage::{ColumnType, TableSchema};

/// One condition on one column.
#[derive(Clone, Debug)]
pub(crate) struct ColumnCondition {
    /// The column's position in the table.
    pub(crate) column: usize,
    pub(crate) test: ColumnTest,
}

/// The test of a condition. Arrays are of the column's own type.
#[derive(Clone, Debug)]
pub(crate) enum ColumnTest {
    /// One of these.
    In(ArrayRef),
    /// Not below this.
    Low(ColumnBound),
    /// Not above this.
    High(ColumnBound),
    /// NULL.
    Null,
}

/// The end of a range.
#[derive(Clone, Debug)]
pub(crate) struct ColumnBound {
    /// An array of one value.
    pub(crate) value: ArrayRef,
    pub(crate) inclusive: bool,
}

impl ColumnCondition {
    /// Whether the order of keys decides this the way that SQL does. Zero has two signs, and NaN is
    /// not a number: the caller compares numbers. Keys order symbols by their
    /// positions, SQL compares them as text.
    pub(crate) fn is_decided_by_keys(&self, schema: &TableSchema) -> bool {
        if let ColumnTest::Null = self.test {
            return !schema.is_key(self.column);
        }
        if let ColumnType::Enum(symbols) = schema.columns[self.column].column_type {
            let ColumnTest::In(values) = &self.test else { return false };
            let mut values = values.as_string::<i32>().iter().flatten();
            return values.all(|value| symbols.place(value).is_some());
        }
        let array = match &self.test {
            ColumnTest::In(array) => array,
            ColumnTest::Low(bound) | ColumnTest::High(bound) => &bound.value,
            ColumnTest::Null => return true,
        };
        match array.data_type() {
            DataType::Float32 | DataType::Float64 => {
                let plain =
                    |value: Option<f64>| value.is_none_or(|value| value != 0.0 && !value.is_nan());
                as_doubles(array).is_some_and(|values| values.into_iter().all(plain))
            }
            _ => true,
        }
    }
}

/// The ranges of numbers that conditions leave of their columns, where they are of numbers.
///
/// # Errors
/// `Corruption` for values that their type has not.
pub(crate) fn column_ranges(conditions: &[ColumnCondition]) -> tonnage::Result<Vec<ColumnRange>> {
    let range = |condition: &ColumnCondition| {
        let (low, high) = match &condition.test {
            ColumnTest::In(values) => (Some(values), Some(values)),
            ColumnTest::Low(bound) => (Some(&bound.value), None),
            ColumnTest::High(bound) => (None, Some(&bound.value)),
            ColumnTest::Null => return Ok(None),
        };
        ColumnRange::new(condition.column, low.map(AsRef::as_ref), high.map(AsRef::as_ref))
    };
    conditions.iter().filter_map(|condition| range(condition).transpose()).collect()
}

fn as_doubles(array: &ArrayRef) -> Option<Vec<Option<f64>>> {
    use arrow::datatypes::Float64Type;
    let array = arrow::compute::cast(array, &DataType::Float64).ok()?;
    Some(array.as_primitive::<Float64Type>().iter().collect())
}

/// The values that all conditions on one column leave.
#[derive(Clone, Debug, Default)]
pub(super) struct ColumnDomain {
    /// Ascending, without duplicates and NULLs.
    pub(super) values: Option<ArrayRef>,
    pub(super) low: Option<ColumnBound>,
    pub(super) high: Option<ColumnBound>,
    pub(super) is_null: bool,
}

impl ColumnDomain {
    pub(super) fn add(&mut self, test: &ColumnTest) -> Result<(), ArrowError> {
        match test {
            ColumnTest::In(values) => {
                let values = sorted_unique(values)?;
                self.values = Some(match &self.values {
                    None => values,
                    Some(others) => intersection(others, &values)?,
                });
            }
            ColumnTest::Low(bound) => narrow_bound(&mut self.low, bound, Ordering::Greater)?,
            ColumnTest::High(bound) => narrow_bound(&mut self.high, bound, Ordering::Less)?,
            ColumnTest::Null => self.is_null = true,
        }
        Ok(())
    }

    /// Drops the values outside the bounds. Call it after the last [`ColumnDomain::add`].
    pub(super) fn restrict_values_to_bounds(&mut self) -> Result<(), ArrowError> {
        let Some(values) = &self.values else { return Ok(()) };
        let mut keep: Vec<u32> = (0..values.len() as u32).collect();
        for (bound, outside) in [(&self.low, Ordering::Less), (&self.high, Ordering::Greater)] {
            let Some(bound) = bound else { continue };
            let compare = comparator(values, &bound.value)?;
            keep.retain(|row| match compare(*row as usize, 0) {
                Ordering::Equal => bound.inclusive,
                order => order != outside,
            });
        }
        if keep.len() < values.len() {
            self.values = Some(take(values, &UInt32Array::from(keep), None)?);
        }
        Ok(())
    }

    /// Whether the domain is empty.
    pub(super) fn is_impossible(&self) -> Result<bool, ArrowError> {
        if self.is_null && (self.values.is_some() || self.low.is_some() || self.high.is_some()) {
            return Ok(true);
        }
        if let Some(values) = &self.values {
            return Ok(values.is_empty());
        }
        let (Some(low), Some(high)) = (&self.low, &self.high) else { return Ok(false) };
        Ok(match comparator(&low.value, &high.value)?(0, 0) {
            Ordering::Greater => true,
            Ordering::Equal => !(low.inclusive && high.inclusive),
            Ordering::Less => false,
        })
    }
}

/// Takes the bound when it is the narrower one: when it excludes more than the bound before.
fn narrow_bound(
    place: &mut Option<ColumnBound>,
    bound: &ColumnBound,
    narrower: Ordering,
) -> Result<(), ArrowError> {
    let replaces = match place {
        None => true,
        Some(before) => match comparator(&bound.value, &before.value)?(0, 0) {
            Ordering::Equal => !bound.inclusive,
            order => order == narrower,
        },
    };
    if replaces {
        *place = Some(bound.clone());
    }
    Ok(())
}

type Comparator = Box<dyn Fn(usize, usize) -> Ordering + Send + Sync>;

fn comparator(left: &ArrayRef, right: &ArrayRef) -> Result<Comparator, ArrowError> {
    make_comparator(left.as_ref(), right.as_ref(), SortOptions::default())
}

fn sorted_unique(values: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let values = non_null_values(values)?;
    if values.len() < 2 {
        return Ok(values);
    }
    let order = sort_to_indices(&values, None, None)?;
    let compare = comparator(&values, &values)?;
    let mut kept: Vec<u32> = Vec::with_capacity(order.len());
    for row in order.values() {
        if kept.last().is_none_or(|last| compare(*last as usize, *row as usize).is_ne()) {
            kept.push(*row);
        }
    }
    take(&values, &UInt32Array::from(kept), None)
}

/// The values in both of two ascending arrays.
fn intersection(left: &ArrayRef, right: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let compare = comparator(left, right)?;
    let (mut kept, mut row, mut other) = (Vec::new(), 0, 0);
    while row < left.len() && other < right.len() {
        match compare(row, other) {
            Ordering::Less => row += 1,
            Ordering::Greater => other += 1,
            Ordering::Equal => {
                kept.push(row as u32);
                (row, other) = (row + 1, other + 1);
            }
        }
    }
    take(left, &UInt32Array::from(kept), None)
}

/// Values that take part in comparisons: those that are not NULL.
pub(crate) fn non_null_values(values: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    if values.null_count() > 0 { filter(values, &is_not_null(values)?) } else { Ok(values.clone()) }
}
