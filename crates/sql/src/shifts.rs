//! `lag` and `lead`, of which the library carries some calls out wrongly (DataFusion 55):
//!
//! 1. Ahead, row by row and without NULLs, they lose count. So then they see all rows of a part at
//!    once.
//! 2. Below a LIMIT `lag(x, -1)` does not see the row behind the last one, nor does `lag` where its
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
    LazyLock::new(|| Arc::new(WindowUDF::new_from_impl(Shift { inner: lag_udwf() })));
static LEAD: LazyLock<Arc<WindowUDF>> =
    LazyLock::new(|| Arc::new(WindowUDF::new_from_impl(Shift { inner: lead_udwf() })));

/// The functions as sessions have them.
pub(crate) fn shifts() -> [Arc<WindowUDF>; 2] {
    [LAG.clone(), LEAD.clone()]
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Shift {
    inner: Arc<WindowUDF>,
}

/// The second argument, if there is one.
enum Offset {
    None,
    Null,
    Rows(i64),
    /// No constant, or no number: the library refuses it.
    Other,
}

impl Offset {
    fn of(arguments: &[Arc<dyn PhysicalExpr>]) -> Self {
        let Some(offset) = arguments.get(1) else { return Offset::None };
        let Some(literal) = offset.downcast_ref::<Literal>() else { return Offset::Other };
        let value = literal.value();
        if value.is_null() {
            return Offset::Null;
        }
        match value.cast_to(&DataType::Int64) {
            Ok(ScalarValue::Int64(Some(rows))) if value.data_type().is_integer() => {
                Offset::Rows(rows)
            }
            _ => Offset::Other,
        }
    }
}

impl Shift {
    fn is_lead(&self) -> bool {
        self.inner.name() == "lead"
    }
}

impl WindowUDFImpl for Shift {
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
        let offset = Offset::of(arguments.input_exprs());
        let is_null = matches!(offset, Offset::Null);
        // Back over NULLs it counts rightly row by row, too.
        let rows = match offset {
            Offset::None => 1,
            Offset::Rows(rows) => rows,
            Offset::Null | Offset::Other => 0,
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
        // Backwards it is told so, and looks the other way.
        let [lag, lead] = shifts();
        ReversedUDWF::Reversed(if self.is_lead() { lead } else { lag })
    }

    fn limit_effect(&self, arguments: &[Arc<dyn PhysicalExpr>]) -> LimitEffect {
        let rows = match Offset::of(arguments) {
            Offset::None => 1,
            Offset::Rows(rows) => rows,
            Offset::Null => 0,
            Offset::Other => return LimitEffect::Unknown,
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
