//! The right side of an ASOF join, sorted by key and time.

use arrow::array::{
    Array, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, UInt32Array, new_null_array,
};
use arrow::compute::{filter, interleave, take};
use arrow::datatypes::{DataType, SchemaRef};
use arrow::row::{RowConverter, Rows, SortField};
use datafusion::common::{Result, exec_err};
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::logical_expr::Operator;

/// Rows of the right side that may match, in the order of their keys and timestamps.
pub(super) struct SortedSide {
    /// Of keys, and of timestamps.
    converters: [RowConverter; 2],
    /// The columns of all batches, and a row of NULLs after them.
    columns: Vec<Vec<ArrayRef>>,
    /// Keys and timestamps of the rows that have both.
    rows: [Rows; 2],
    /// In which batch and where each of these rows is.
    places: Vec<(u32, u32)>,
    order: Vec<u32>,
    /// The part of the memory pool that this takes.
    reservation: MemoryReservation,
}

/// Gathers the batches of the right side.
pub(super) struct SideSorter {
    sorted: SortedSide,
    schema: SchemaRef,
    batches: u32,
}

impl SideSorter {
    pub(super) fn new(
        schema: SchemaRef,
        (keys, moment): (Vec<DataType>, DataType),
        reservation: MemoryReservation,
    ) -> Result<Self> {
        let converters = [
            RowConverter::new(keys.into_iter().map(SortField::new).collect())?,
            RowConverter::new(vec![SortField::new(moment)])?,
        ];
        let rows = [converters[0].empty_rows(0, 0), converters[1].empty_rows(0, 0)];
        let columns = vec![Vec::new(); schema.fields().len()];
        let sorted = SortedSide {
            converters,
            columns,
            rows,
            places: Vec::new(),
            order: Vec::new(),
            reservation,
        };
        Ok(Self { sorted, schema, batches: 0 })
    }

    /// Takes a batch with the keys and timestamps of its rows.
    pub(super) fn add(&mut self, batch: &RecordBatch, values: &[ArrayRef]) -> Result<()> {
        // Rows without a key or a timestamp match nothing. A batch of such rows gets no number, and
        // is dropped.
        let Some(are_there) = all_there(values, batch.num_rows()) else { return Ok(()) };
        let kept = values
            .iter()
            .map(|values| Ok(filter(values, &are_there)?))
            .collect::<Result<Vec<_>>>()?;
        let size = |rows: &[Rows; 2]| rows[0].size() + rows[1].size();
        let before = size(&self.sorted.rows);
        let (moment, keys) = split(&kept)?;
        let SortedSide { converters: [of_keys, of_moments], rows: [key_rows, moment_rows], .. } =
            &mut self.sorted;
        of_keys.append(key_rows, keys)?;
        of_moments.append(moment_rows, moment)?;
        let rows = (0_u32..).zip(are_there.values()).filter(|(_, is)| *is).map(|(row, _)| row);
        let places = self.sorted.places.len();
        self.sorted.places.extend(rows.map(|row| (self.batches, row)));
        let added = self.sorted.places.len() - places;
        let bytes = size(&self.sorted.rows).saturating_sub(before)
            + added * (size_of::<(u32, u32)>() + size_of::<u32>())
            + batch.get_array_memory_size();
        // Before the batch is kept: a side that is too large fails, instead of taking the memory.
        self.sorted.reservation.try_grow(bytes)?;
        for (column, array) in self.sorted.columns.iter_mut().zip(batch.columns()) {
            column.push(array.clone());
        }
        self.batches += 1;
        Ok(())
    }

    /// Sorts what was gathered.
    pub(super) fn finish(mut self) -> Result<SortedSide> {
        let Ok(count) = u32::try_from(self.sorted.places.len()) else {
            return exec_err!(
                "the right side of an ASOF JOIN has more than {} rows: narrow it by a subquery",
                u32::MAX
            );
        };
        let mut order: Vec<u32> = (0..count).collect();
        let [keys, moments] = &self.sorted.rows;
        let row = |place: &u32| (keys.row(*place as usize), moments.row(*place as usize));
        order.sort_by(|one, other| row(one).cmp(&row(other)));
        self.sorted.order = order;
        for (column, field) in self.sorted.columns.iter_mut().zip(self.schema.fields()) {
            column.push(new_null_array(field.data_type(), 1));
        }
        Ok(self.sorted)
    }
}

/// Which rows have all values; nothing when none has.
fn all_there(values: &[ArrayRef], rows: usize) -> Option<BooleanArray> {
    let is_there = |row: usize| values.iter().all(|values| values.is_valid(row));
    let nulls: Vec<_> = values.iter().filter_map(|values| values.logical_nulls()).collect();
    let are_there: BooleanArray = match nulls.is_empty() {
        true => vec![true; rows].into(),
        false => (0..rows)
            .map(|row| Some(is_there(row) && nulls.iter().all(|nulls| nulls.is_valid(row))))
            .collect(),
    };
    (are_there.true_count() > 0).then_some(are_there)
}

impl SortedSide {
    /// A batch of the left side, with the keys and timestamps of its rows, joined.
    pub(super) fn join(
        &self,
        left: &RecordBatch,
        values: &[ArrayRef],
        (op, is_outer): (Operator, bool),
        schema: &SchemaRef,
    ) -> Result<RecordBatch> {
        let (moment, keys) = split(values)?;
        let rows = [
            self.converters[0].convert_columns(keys)?,
            self.converters[1].convert_columns(moment)?,
        ];
        let are_there = all_there(values, left.num_rows());
        let (mut kept, mut found) = (Vec::new(), Vec::new());
        // `finish` has put a batch with one row of NULLs after all others.
        let nothing = (self.columns.first().map_or(0, Vec::len).saturating_sub(1), 0);
        for row in 0..left.num_rows() {
            let place = match &are_there {
                Some(are_there) if are_there.value(row) => self.nearest(&rows, row, op),
                _ => None,
            };
            match place {
                Some(place) => {
                    let (batch, at) = self.places[place as usize];
                    found.push((batch as usize, at as usize));
                }
                None if is_outer => found.push(nothing),
                None => continue,
            }
            kept.push(row as u32);
        }
        // An outer join keeps all rows of the left side, which then need no copy.
        let mut columns = if kept.len() == left.num_rows() {
            left.columns().to_vec()
        } else {
            let kept = UInt32Array::from(kept);
            let taken = left.columns().iter().map(|column| Ok(take(column, &kept, None)?));
            taken.collect::<Result<Vec<_>>>()?
        };
        for column in &self.columns {
            let parts: Vec<&dyn Array> = column.iter().map(AsRef::as_ref).collect();
            columns.push(interleave(&parts, &found)?);
        }
        // A batch without columns does not know how many rows it has.
        let options = RecordBatchOptions::new().with_row_count(Some(found.len()));
        Ok(RecordBatch::try_new_with_options(schema.clone(), columns, &options)?)
    }

    /// The row of the right side that is nearest to one of the left: the last one before it for
    /// `>=` and `>`, the first one after it for `<=` and `<`.
    fn nearest(&self, left: &[Rows; 2], row: usize, op: Operator) -> Option<u32> {
        let [keys, moments] = &self.rows;
        let wanted = (left[0].row(row), left[1].row(row));
        let right = |index: &u32| (keys.row(*index as usize), moments.row(*index as usize));
        let before = |index: &u32| right(index) < wanted;
        let not_behind = |index: &u32| right(index) <= wanted;
        let found = match op {
            Operator::GtEq => self.order.partition_point(not_behind).checked_sub(1)?,
            Operator::Gt => self.order.partition_point(before).checked_sub(1)?,
            Operator::LtEq => self.order.partition_point(before),
            _ => self.order.partition_point(not_behind),
        };
        let found = *self.order.get(found)?;
        (keys.row(found as usize) == wanted.0).then_some(found)
    }
}

/// The timestamps, which follow the keys.
fn split(values: &[ArrayRef]) -> Result<(&[ArrayRef], &[ArrayRef])> {
    match values.split_last() {
        Some((moment, keys)) if !keys.is_empty() => Ok((std::slice::from_ref(moment), keys)),
        _ => exec_err!("an ASOF JOIN has keys and timestamps"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{AsArray, Int64Array};
    use arrow::datatypes::{Field, Int64Type, Schema};
    use datafusion::execution::memory_pool::{GreedyMemoryPool, MemoryConsumer, MemoryPool};
    use proptest::prelude::*;

    use super::*;

    /// A key, a timestamp, and the number of the row.
    type Row = (Option<i64>, Option<i64>, i64);

    fn batch(rows: &[Row], prefix: &str) -> RecordBatch {
        let field = |name: &str| Field::new(format!("{prefix}{name}"), DataType::Int64, true);
        let columns: Vec<ArrayRef> = vec![
            Arc::new(rows.iter().map(|row| row.0).collect::<Int64Array>()),
            Arc::new(rows.iter().map(|row| row.1).collect::<Int64Array>()),
            Arc::new(rows.iter().map(|row| Some(row.2)).collect::<Int64Array>()),
        ];
        let schema = Schema::new(vec![field("key"), field("at"), field("row")]);
        RecordBatch::try_new(Arc::new(schema), columns).unwrap()
    }

    fn gathered(right: &[Row], rows_of_batch: usize, bytes_max: usize) -> Result<SortedSide> {
        let pool: Arc<dyn MemoryPool> = Arc::new(GreedyMemoryPool::new(bytes_max));
        let reservation = MemoryConsumer::new("test").register(&pool);
        let types = (vec![DataType::Int64], DataType::Int64);
        let mut gathering = SideSorter::new(batch(&[], "r").schema(), types, reservation)?;
        for rows in right.chunks(rows_of_batch) {
            let batch = batch(rows, "r");
            gathering.add(&batch, &batch.columns()[..2])?;
        }
        gathering.finish()
    }

    fn joined(
        left: &[Row],
        right: &[Row],
        form: (Operator, bool),
        rows_of_batch: usize,
    ) -> Vec<(i64, Option<i64>)> {
        let sorted = gathered(right, rows_of_batch, 1 << 20).unwrap();
        let left = batch(left, "l");
        let fields = [left.schema(), batch(&[], "r").schema()];
        let fields: Vec<_> = fields.iter().flat_map(|schema| schema.fields().to_vec()).collect();
        let schema = Arc::new(Schema::new(fields));
        let joined = sorted.join(&left, &left.columns()[..2], form, &schema).unwrap();
        let rows = |index: usize| joined.column(index).as_primitive::<Int64Type>().clone();
        // Of several rows at one point in time any may come: their timestamps are compared.
        rows(2).iter().flatten().zip(rows(4).iter()).collect()
    }

    /// The same by looking at every pair of rows.
    fn expected(
        left: &[Row],
        right: &[Row],
        (op, is_outer): (Operator, bool),
    ) -> Vec<(i64, Option<i64>)> {
        let mut all = Vec::new();
        for (key, at, row) in left {
            let found = right.iter().filter_map(|(other, moment, _)| {
                let (at, moment) = ((*at)?, (*moment)?);
                let holds = match op {
                    Operator::GtEq => at >= moment,
                    Operator::Gt => at > moment,
                    Operator::LtEq => at <= moment,
                    _ => at < moment,
                };
                (holds && key.is_some() && key == other).then_some(moment)
            });
            let found = match op {
                Operator::GtEq | Operator::Gt => found.max(),
                _ => found.min(),
            };
            if found.is_some() || is_outer {
                all.push((*row, found));
            }
        }
        all
    }

    fn rows() -> impl Strategy<Value = Vec<Row>> {
        let cell = || proptest::option::weighted(0.9, -6..6_i64);
        let pairs = proptest::collection::vec((cell(), cell()), 0..40);
        pairs.prop_map(|pairs| {
            pairs.into_iter().zip(0..).map(|((key, at), row)| (key, at, row)).collect()
        })
    }

    proptest! {
        #[test]
        fn each_row_meets_the_nearest_one(left in rows(), right in rows(), op in 0..4_usize, is_outer: bool, rows_of_batch in 1..9_usize) {
            let op = [Operator::GtEq, Operator::Gt, Operator::LtEq, Operator::Lt][op];
            let form = (op, is_outer);
            prop_assert_eq!(joined(&left, &right, form, rows_of_batch), expected(&left, &right, form));
        }
    }

    #[test]
    fn more_than_the_memory_pool_holds_is_an_error() {
        let rows: Vec<Row> = (0..1_000).map(|row| (Some(row), Some(row), row)).collect();
        assert!(gathered(&rows, 100, 1 << 10).is_err());
        assert!(gathered(&rows, 100, 1 << 20).is_ok());
    }
}
