//! `lag` and `lead`, of which the library carries some calls out wrongly (DataFusion 55):
//!
//! Upstream: apache/datafusion#25471. Gone in: open
//!
//! 1. Ahead, row by row and without NULLs, they lose count. So then they see all rows of a part at
//!    once.
//! 2. Below a LIMIT `lag(x, -1)` does not see the row after the last one, nor does `lag` where its
//!    rows come in the opposite order. Both look ahead, as `lead` does.
//! 3. An offset that is NULL is none to them. Here it gives NULL.

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use arrow::array::{ArrayRef, new_null_array};
use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::functions_window::lead_lag::{lag_udwf, lead_udwf};
use datafusion::logical_expr::function::{
    ExpressionArgs, PartitionEvaluatorArgs, WindowUDFFieldArgs,
};
use datafusion::logical_expr::{
    LimitEffect, PartitionEvaluator, ReversedUDWF, Signature, WindowUDF, WindowUDFImpl,
};
use datafusion::physical_expr::expressions::Literal;
use datafusion::physical_plan::PhysicalExpr;

static LAG: LazyLock<Arc<WindowUDF>> =
    LazyLock::new(|| Arc::new(WindowUDF::new_from_impl(ShiftFunction { inner: lag_udwf() })));
static LEAD: LazyLock<Arc<WindowUDF>> =
    LazyLock::new(|| Arc::new(WindowUDF::new_from_impl(ShiftFunction { inner: lead_udwf() })));

/// The functions as sessions have them.
pub(crate) fn shifts() -> [Arc<WindowUDF>; 2] {
    [LAG.clone(), LEAD.clone()]
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ShiftFunction {
    inner: Arc<WindowUDF>,
}

/// The second argument, if there is one.
enum ShiftOffset {
    None,
    Null,
    Rows(i64),
    /// No constant, or no number: the library refuses it.
    Other,
}

impl ShiftOffset {
    fn of(arguments: &[Arc<dyn PhysicalExpr>]) -> Self {
        let Some(offset) = arguments.get(1) else { return ShiftOffset::None };
        let Some(literal) = offset.downcast_ref::<Literal>() else { return ShiftOffset::Other };
        let value = literal.value();
        if value.is_null() {
            return ShiftOffset::Null;
        }
        match value.cast_to(&DataType::Int64) {
            Ok(ScalarValue::Int64(Some(rows))) if value.data_type().is_integer() => {
                ShiftOffset::Rows(rows)
            }
            _ => ShiftOffset::Other,
        }
    }
}

impl ShiftFunction {
    fn is_lead(&self) -> bool {
        self.inner.name() == "lead"
    }
}

impl WindowUDFImpl for ShiftFunction {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn expressions(&self, arguments: ExpressionArgs<'_>) -> Vec<Arc<dyn PhysicalExpr>> {
        self.inner.inner().expressions(arguments)
    }

    fn partition_evaluator(
        &self,
        arguments: PartitionEvaluatorArgs<'_>,
    ) -> Result<Box<dyn PartitionEvaluator>> {
        let offset = ShiftOffset::of(arguments.input_exprs());
        let is_null = matches!(offset, ShiftOffset::Null);
        // Back over NULLs it counts rightly row by row, too.
        let rows = match offset {
            ShiftOffset::None => 1,
            ShiftOffset::Rows(rows) => rows,
            ShiftOffset::Null | ShiftOffset::Other => 0,
        };
        let is_back = rows != 0 && (rows > 0) != (self.is_lead() != arguments.is_reversed());
        let is_whole = is_null || arguments.ignore_nulls() && !is_back;
        let inner = self.inner.partition_evaluator_factory(arguments)?;
        Ok(match is_whole {
            true => Box::new(WholePart { inner, is_null }),
            false => inner,
        })
    }

    fn field(&self, arguments: WindowUDFFieldArgs<'_>) -> Result<FieldRef> {
        self.inner.field(arguments)
    }

    fn reverse_expr(&self) -> ReversedUDWF {
        // Backwards, it looks the other way.
        let [lag, lead] = shifts();
        ReversedUDWF::Reversed(if self.is_lead() { lead } else { lag })
    }

    fn limit_effect(&self, arguments: &[Arc<dyn PhysicalExpr>]) -> LimitEffect {
        let rows = match ShiftOffset::of(arguments) {
            ShiftOffset::None => 1,
            ShiftOffset::Rows(rows) => rows,
            ShiftOffset::Null => 0,
            ShiftOffset::Other => return LimitEffect::Unknown,
        };
        // Backwards lag looks ahead.
        usize::try_from(rows.unsigned_abs()).map_or(LimitEffect::Unknown, LimitEffect::Relative)
    }
}

/// What sees all rows of a part at once.
#[derive(Debug)]
struct WholePart {
    inner: Box<dyn PartitionEvaluator>,
    /// Whether the offset is NULL.
    is_null: bool,
}

impl PartitionEvaluator for WholePart {
    fn get_range(&self, row: usize, rows: usize) -> Result<Range<usize>> {
        self.inner.get_range(row, rows)
    }

    fn evaluate_all(&mut self, values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        match self.is_null {
            true => Ok(new_null_array(values[0].data_type(), rows)),
            false => self.inner.evaluate_all(values, rows),
        }
    }

    fn supports_bounded_execution(&self) -> bool {
        false
    }

    fn uses_window_frame(&self) -> bool {
        false
    }
}
