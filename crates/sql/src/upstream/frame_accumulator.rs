//! Aggregates of doubles, and `bit_xor`, over the frames of a window, from which rows leave again.
//!
//! Upstream: no issue known: docs/upstream/sums-over-moving-frames.md. Gone in: open
//!
//! The library subtracts what leaves. Of doubles that leaves a rest: after 1e17 a sum of 1 and 1
//! is 0, the deviation of equal numbers may be NaN, and after NaN or infinity everything is NaN.
//! What `bit_xor` leaves of no rows is 0, not NULL. So here nothing is subtracted:
//!
//! 1. What comes is added up, and its rows are held.
//! 2. When the first of them leaves, each gets what it and those after it come to, from the last
//!    one to the first. The sum of what comes begins anew.
//! 3. A row that leaves takes away what it got. The answer is that of the oldest row, with the sum
//!    of what has come since.
//!
//! So each row is added twice, however long the frame is.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use arrow::datatypes::{DataType, FieldRef, Schema};
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::{Accumulator, AggregateUDF};
use datafusion::physical_expr::PhysicalExpr;

/// The one that is not of doubles.
pub(crate) const BIT_XOR: &str = "bit_xor";

/// An aggregate over frames that move.
#[derive(Debug)]
pub(crate) struct FrameAccumulator {
    function: FrameFunction,
    /// What the rows that came last come to.
    sum: Box<dyn Accumulator>,
    /// These rows, as they came.
    held: Vec<Vec<ArrayRef>>,
    /// What each of the rows before them comes to with those after it; the oldest row is the last.
    before: Vec<Vec<ScalarValue>>,
}

/// The function with its arguments.
#[derive(Debug)]
struct FrameFunction {
    function: Arc<AggregateUDF>,
    return_field: FieldRef,
    schema: Schema,
    name: String,
    exprs: Vec<Arc<dyn PhysicalExpr>>,
    expr_fields: Vec<FieldRef>,
}

impl FrameFunction {
    fn accumulator(&self) -> Result<Box<dyn Accumulator>> {
        self.function.accumulator(AccumulatorArgs {
            return_field: self.return_field.clone(),
            schema: &self.schema,
            ignore_nulls: false,
            order_bys: &[],
            is_reversed: false,
            name: &self.name,
            is_distinct: false,
            exprs: &self.exprs,
            expr_fields: &self.expr_fields,
        })
    }
}

impl FrameAccumulator {
    /// The aggregate of a function of the library; nothing for those that need none.
    pub(crate) fn of(
        function: &Arc<AggregateUDF>,
        arguments: &AccumulatorArgs<'_>,
    ) -> Option<Result<Self>> {
        let is_subtracted =
            *arguments.return_type() == DataType::Float64 || function.name() == BIT_XOR;
        if arguments.is_distinct || !is_subtracted {
            return None;
        }
        let function = FrameFunction {
            function: function.clone(),
            return_field: arguments.return_field.clone(),
            schema: arguments.schema.clone(),
            name: arguments.name.to_owned(),
            exprs: arguments.exprs.to_vec(),
            expr_fields: arguments.expr_fields.to_vec(),
        };
        let sum = function.accumulator();
        Some(sum.map(|sum| Self { function, sum, held: Vec::new(), before: Vec::new() }))
    }

    /// Gives each row that is held what it and those after it come to.
    fn rebuild(&mut self) -> Result<()> {
        self.sum = self.function.accumulator()?;
        let mut sum = self.function.accumulator()?;
        let held = std::mem::take(&mut self.held);
        for values in held.iter().rev() {
            for row in (0..values[0].len()).rev() {
                let one: Vec<ArrayRef> = values.iter().map(|value| value.slice(row, 1)).collect();
                sum.update_batch(&one)?;
                self.before.push(sum.state()?);
            }
        }
        Ok(())
    }

    /// All rows of the frame.
    fn merged(&mut self) -> Result<Box<dyn Accumulator>> {
        let mut whole = self.function.accumulator()?;
        if let Some(state) = self.before.last() {
            whole.merge_batch(&arrays(state)?)?;
        }
        if !self.held.is_empty() {
            whole.merge_batch(&arrays(&self.sum.state()?)?)?;
        }
        Ok(whole)
    }
}

fn arrays(state: &[ScalarValue]) -> Result<Vec<ArrayRef>> {
    state.iter().map(ScalarValue::to_array).collect()
}

impl Accumulator for FrameAccumulator {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.sum.update_batch(values)?;
        self.held.push(values.to_vec());
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let mut rows = values[0].len();
        while rows > 0 {
            if self.before.is_empty() {
                self.rebuild()?;
            }
            let leaving = rows.min(self.before.len());
            if leaving == 0 {
                return exec_err!("more rows leave a window than came");
            }
            self.before.truncate(self.before.len() - leaving);
            rows -= leaving;
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, _: &[ArrayRef]) -> Result<()> {
        exec_err!("the frames of a window are not merged")
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.merged()?.evaluate()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.merged()?.state()
    }

    fn size(&self) -> usize {
        let columns = self.before.first().map_or(0, Vec::len);
        size_of_val(self)
            + self.sum.size()
            + self.held.capacity() * size_of::<Vec<ArrayRef>>()
            + self.before.capacity() * size_of::<Vec<ScalarValue>>()
            + self.before.len() * columns * size_of::<ScalarValue>()
    }
}
