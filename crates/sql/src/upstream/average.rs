//! The average of decimals of 256 bits, exact or an error: the library's sum of them wraps around.
//! Narrower ones it sums in 256 bits, which no number of rows fills.
//!
//! Upstream: no issue known: docs/upstream/average-of-long-decimals.md. Gone in: open

use arrow::array::{ArrayRef, ArrowNativeTypeOp, AsArray};
use arrow::datatypes::{
    DECIMAL256_MAX_PRECISION, DataType, Decimal256Type, DecimalType, Field, FieldRef, UInt64Type,
    i256,
};
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::logical_expr::Accumulator;
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::utils::format_state_name;

use crate::aggregate::{RunningSum, scalar};

/// Whether averages of a type are computed here.
pub(crate) fn is_own(argument: Option<&DataType>) -> bool {
    matches!(argument, Some(DataType::Decimal256(..)))
}

/// The average of all, by its arguments; nothing for other types.
pub(crate) fn average(arguments: &AccumulatorArgs<'_>) -> Option<Box<dyn Accumulator>> {
    let given = arguments.expr_fields.first()?.data_type();
    let (DataType::Decimal256(_, scale), result_type) =
        (given, arguments.return_field.data_type().clone())
    else {
        return None;
    };
    let sum = RunningSum::new(state_type(*scale), arguments.is_distinct);
    Some(Box::new(DecimalAverage { sum, scale: *scale, result_type }))
}

fn state_type(scale: i8) -> DataType {
    DataType::Decimal256(DECIMAL256_MAX_PRECISION, scale)
}

/// What partial averages hand on: a sum and a count, or a list of different numbers.
pub(crate) fn state_fields(
    name: &str,
    argument: &DataType,
    is_distinct: bool,
) -> Option<Vec<FieldRef>> {
    let DataType::Decimal256(_, scale) = argument else { return None };
    let state = state_type(*scale);
    Some(match is_distinct {
        true => {
            let item = Field::new_list_field(state, true);
            vec![Field::new_list(format_state_name(name, "avg distinct"), item, false).into()]
        }
        false => vec![
            Field::new(format_state_name(name, "count"), DataType::UInt64, true).into(),
            Field::new(format_state_name(name, "sum"), state, true).into(),
        ],
    })
}

#[derive(Debug)]
struct DecimalAverage {
    sum: RunningSum<Decimal256Type>,
    /// How many digits of the numbers follow the point.
    scale: i8,
    result_type: DataType,
}

impl Accumulator for DecimalAverage {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.sum.add_all(&values[0])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let [counts, sums] = states else { return self.sum.add_lists(&states[0]) };
        let before = self.sum.count;
        self.sum.add_all(sums)?;
        let counts = counts.as_primitive::<UInt64Type>().iter().flatten();
        self.sum.count = before + counts.sum::<u64>();
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.sum.take_all(&values[0])
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let DataType::Decimal256(precision, scale) = self.result_type else {
            return exec_err!("an average of decimals is a decimal");
        };
        if self.sum.count == 0 {
            return ScalarValue::try_from(&self.result_type);
        }
        let average = i256::from_i128(10)
            .pow_checked(u32::from((scale - self.scale).unsigned_abs()))
            .and_then(|power| self.sum.sum.mul_checked(power))
            .and_then(|scaled| scaled.div_checked(i256::from_i128(self.sum.count.into())))
            .and_then(|average| {
                Decimal256Type::validate_decimal_precision(average, precision, scale)
                    .map(|()| average)
            });
        match average {
            Ok(average) => scalar::<Decimal256Type>(Some(average), &self.result_type),
            Err(_) => exec_err!(
                "avg is out of range: with {scale} digits after the point it has more than {DECIMAL256_MAX_PRECISION} digits; take avg of CAST(x AS NUMBER(p, s)) with a smaller scale"
            ),
        }
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(match self.sum.list() {
            Some(list) => vec![list],
            None => vec![ScalarValue::UInt64(Some(self.sum.count)), self.sum.partial()?],
        })
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.sum.size()
    }
}
