//! `mode` and `histogram`, which count how often each value occurs.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, ListArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use datafusion::common::{Result, ScalarValue, exec_err, plan_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility,
};
use tonnage::{ColumnType, Value};

use crate::errors::into_datafusion;

/// The functions as sessions have them.
pub(crate) fn frequencies() -> [AggregateUDF; 2] {
    let function = |kind| {
        let signature = Signature::any(1, Volatility::Immutable);
        AggregateUDF::new_from_impl(FrequencyAggregate { kind, signature })
    };
    [function(FrequencyKind::Mode), function(FrequencyKind::Histogram)]
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct FrequencyAggregate {
    kind: FrequencyKind,
    signature: Signature,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum FrequencyKind {
    Mode,
    Histogram,
}

impl AggregateUDFImpl for FrequencyAggregate {
    fn name(&self) -> &str {
        match self.kind {
            FrequencyKind::Mode => "mode",
            FrequencyKind::Histogram => "histogram",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        match (self.kind, arguments) {
            (FrequencyKind::Mode, [value]) => Ok(value.clone()),
            (FrequencyKind::Histogram, [_]) => Ok(DataType::Utf8),
            _ => plan_err!("{} takes one value", self.name()),
        }
    }

    fn return_field(&self, arguments: &[FieldRef]) -> Result<FieldRef> {
        match (self.kind, arguments) {
            (FrequencyKind::Mode, [value]) => {
                Ok(Arc::new(value.as_ref().clone().with_name(self.name()).with_nullable(true)))
            }
            (FrequencyKind::Histogram, [_]) => {
                Ok(Arc::new(ColumnType::Json.to_arrow(self.name(), true)))
            }
            _ => plan_err!("{} takes one value", self.name()),
        }
    }

    fn accumulator(&self, arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if arguments.is_distinct {
            return plan_err!("{} counts all rows: leave out DISTINCT", self.name());
        }
        let Some(field) = arguments.expr_fields.first() else {
            return plan_err!("{} takes one value", self.name());
        };
        Ok(Box::new(ValueCounts {
            kind: self.kind,
            field: field.clone(),
            counts: HashMap::new(),
            bytes: 0,
        }))
    }

    fn state_fields(&self, arguments: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let value = match arguments.input_fields.first() {
            Some(field) => field.data_type().clone(),
            None => return plan_err!("{} takes one value", self.name()),
        };
        let list = |part: &str, item: DataType| {
            let name = format_state_name(arguments.name, part);
            Arc::new(Field::new_list(name, Field::new_list_field(item, true), false))
        };
        Ok(vec![list("values", value), list("counts", DataType::Int64)])
    }
}

/// How often each value came, NULL aside.
#[derive(Debug)]
struct ValueCounts {
    kind: FrequencyKind,
    field: FieldRef,
    counts: HashMap<ScalarValue, i64>,
    bytes: usize,
}

impl ValueCounts {
    fn add(&mut self, value: ScalarValue, count: i64) {
        if value.is_null() {
            return;
        }
        let bytes = value.size();
        let known = self.counts.entry(value).or_insert_with(|| {
            self.bytes += bytes + size_of::<i64>();
            0
        });
        *known += count;
    }

    /// The values in their order, with their counts.
    fn sorted(&self) -> Vec<(&ScalarValue, i64)> {
        let mut sorted: Vec<_> = self.counts.iter().map(|(value, count)| (value, *count)).collect();
        sorted.sort_by(|(one, _), (other, _)| order(one, other));
        sorted
    }

    /// The least of the values that came most often.
    fn mode(&self) -> Result<ScalarValue> {
        let mut most: Option<(&ScalarValue, i64)> = None;
        for (value, count) in self.sorted() {
            if most.is_none_or(|(_, known)| count > known) {
                most = Some((value, count));
            }
        }
        match most {
            Some((value, _)) => Ok(value.clone()),
            None => ScalarValue::try_from(self.field.data_type()),
        }
    }

    fn histogram(&self) -> Result<ScalarValue> {
        if self.counts.is_empty() {
            return Ok(ScalarValue::Utf8(None));
        }
        let mut members = Vec::new();
        for (value, count) in self.sorted() {
            let array = value.to_array()?;
            let name =
                Value::from_array(array.as_ref(), &self.field, 0).map_err(into_datafusion)?;
            members.push(format!("{}:{count}", serde_json::Value::from(name.to_string())));
        }
        Ok(ScalarValue::Utf8(Some(format!("{{{}}}", members.join(",")))))
    }
}

/// Values without an order are ordered by their text, so that the order of rows says nothing.
fn order(one: &ScalarValue, other: &ScalarValue) -> Ordering {
    one.partial_cmp(other).unwrap_or_else(|| one.to_string().cmp(&other.to_string()))
}

impl Accumulator for ValueCounts {
    fn update_batch(&mut self, arguments: &[ArrayRef]) -> Result<()> {
        let values = &arguments[0];
        for row in 0..values.len() {
            if values.is_valid(row) {
                self.add(ScalarValue::try_from_array(values, row)?, 1);
            }
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        match self.kind {
            FrequencyKind::Mode => self.mode(),
            FrequencyKind::Histogram => self.histogram(),
        }
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.bytes + self.counts.capacity() * size_of::<(ScalarValue, i64)>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let (values, counts): (Vec<ScalarValue>, Vec<i64>) = self.counts.drain().unzip();
        self.bytes = 0;
        let values = match values.is_empty() {
            true => arrow::array::new_empty_array(self.field.data_type()),
            false => ScalarValue::iter_to_array(values)?,
        };
        Ok(vec![one_list(values), one_list(Arc::new(Int64Array::from(counts)))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let [values, counts] = states else {
            return exec_err!("partial counts are values and numbers");
        };
        let (values, counts) = (values.as_list::<i32>(), counts.as_list::<i32>());
        for (values, counts) in values.iter().flatten().zip(counts.iter().flatten()) {
            let counts = counts.as_primitive::<Int64Type>();
            for row in 0..values.len() {
                self.add(ScalarValue::try_from_array(&values, row)?, counts.value(row));
            }
        }
        Ok(())
    }
}

fn one_list(items: ArrayRef) -> ScalarValue {
    let field = Arc::new(Field::new_list_field(items.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths([items.len()]);
    ScalarValue::List(Arc::new(ListArray::new(field, offsets, items, None)))
}
