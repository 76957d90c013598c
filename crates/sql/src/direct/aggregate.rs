//! Aggregates over all rows of a read, by DataFusion's own accumulators: so results and types are
//! what a planned statement gives.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Accumulator;
use datafusion::logical_expr::type_coercion::functions::fields_with_udf;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::aggregate::{AggregateExprBuilder, AggregateFunctionExpr};
use datafusion::physical_expr::expressions::Column;
use tonnage::{Error, Result};

use super::parse::AggregateCall;
use crate::access::ReadSpec;
use crate::engine::Engine;
use crate::errors::from_datafusion;

/// The aggregates of one statement.
pub(crate) struct Aggregates {
    parts: Vec<AggregatePart>,
    pub(crate) schema: SchemaRef,
}

struct AggregatePart {
    feed: AggregateFeed,
    /// Its description in EXPLAIN.
    shown: String,
    /// Whether the least (false) or greatest (true) value of this column is asked for, and nothing
    /// else.
    end: Option<(usize, bool)>,
}

enum AggregateFeed {
    /// `count(*)`
    Rows(i64),
    Values {
        /// The position in the table.
        column: usize,
        /// What the accumulator takes.
        data_type: DataType,
        function: Arc<AggregateFunctionExpr>,
        accumulator: Box<dyn Accumulator>,
    },
}

impl Aggregates {
    /// The aggregates, unless one of them does not take its column.
    pub(super) fn new(
        calls: &[AggregateCall],
        path: &str,
        spec: &ReadSpec,
        engine: &Engine,
    ) -> Option<Self> {
        let (mut parts, mut fields) = (Vec::new(), Vec::<FieldRef>::new());
        for call in calls {
            let (part, field) = aggregate_part(call, path, spec, engine)?;
            if fields.iter().any(|before| before.name() == field.name()) {
                return None;
            }
            parts.push(part);
            fields.push(field);
        }
        Some(Self { parts, schema: Arc::new(Schema::new(fields)) })
    }

    /// The columns that all aggregates together want.
    pub(super) fn ends(&self) -> Option<Vec<(usize, bool)>> {
        self.parts.iter().map(|part| part.end).collect()
    }

    /// Takes a batch of the columns of a read into account.
    pub(super) fn update(&mut self, columns: &[usize], batch: &RecordBatch) -> Result<()> {
        (0..self.parts.len()).try_for_each(|part| self.update_part(part, columns, batch))
    }

    pub(super) fn update_part(
        &mut self,
        part: usize,
        columns: &[usize],
        batch: &RecordBatch,
    ) -> Result<()> {
        match &mut self.parts[part].feed {
            AggregateFeed::Rows(count) => *count += batch.num_rows() as i64,
            AggregateFeed::Values { column, data_type, accumulator, .. } => {
                let place = columns.iter().position(|read| read == column);
                let place =
                    place.ok_or_else(|| Error::internal("an aggregate's column was not read"))?;
                let values = converted(batch.column(place), data_type)?;
                accumulator.update_batch(&[values]).map_err(from_datafusion)?;
            }
        }
        Ok(())
    }

    /// The same aggregates of no rows yet, for another reader of the same read.
    pub(super) fn fresh(&self) -> Result<Self> {
        let parts = self.parts.iter().map(AggregatePart::fresh).collect::<Result<_>>()?;
        Ok(Self { parts, schema: self.schema.clone() })
    }

    /// Takes the rows into account that another reader has.
    pub(super) fn merge(&mut self, other: Self) -> Result<()> {
        for (part, other) in self.parts.iter_mut().zip(other.parts) {
            match (&mut part.feed, other.feed) {
                (AggregateFeed::Rows(count), AggregateFeed::Rows(more)) => *count += more,
                (
                    AggregateFeed::Values { accumulator, .. },
                    AggregateFeed::Values { accumulator: mut other, .. },
                ) => {
                    let state = other
                        .state()
                        .and_then(|state| state.iter().map(ScalarValue::to_array).collect());
                    let state: Vec<ArrayRef> = state.map_err(from_datafusion)?;
                    accumulator.merge_batch(&state).map_err(from_datafusion)?;
                }
                _ => return Err(Error::internal("readers of one read have different aggregates")),
            }
        }
        Ok(())
    }

    /// The one row of results.
    pub(super) fn finish(mut self) -> Result<RecordBatch> {
        let values = self.parts.iter_mut().map(|part| match &mut part.feed {
            AggregateFeed::Rows(count) => ScalarValue::Int64(Some(*count)).to_array(),
            AggregateFeed::Values { accumulator, .. } => {
                accumulator.evaluate().and_then(|value| value.to_array())
            }
        });
        let arrays =
            values.collect::<std::result::Result<Vec<ArrayRef>, _>>().map_err(from_datafusion)?;
        RecordBatch::try_new(self.schema, arrays)
            .map_err(|error| Error::internal(format!("aggregates: {error}")))
    }

    pub(crate) fn describe(&self) -> String {
        self.parts.iter().map(|part| part.shown.as_str()).collect::<Vec<_>>().join(", ")
    }
}

impl AggregatePart {
    fn fresh(&self) -> Result<Self> {
        let feed = match &self.feed {
            AggregateFeed::Rows(_) => AggregateFeed::Rows(0),
            AggregateFeed::Values { column, data_type, function, .. } => AggregateFeed::Values {
                column: *column,
                data_type: data_type.clone(),
                function: function.clone(),
                accumulator: function.create_accumulator().map_err(from_datafusion)?,
            },
        };
        Ok(Self { feed, shown: self.shown.clone(), end: self.end })
    }
}

fn converted(array: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    if array.data_type() == data_type {
        return Ok(array.clone());
    }
    cast(array, data_type).map_err(|error| Error::invalid(error.to_string()).with_source(error))
}

fn aggregate_part(
    call: &AggregateCall,
    path: &str,
    spec: &ReadSpec,
    engine: &Engine,
) -> Option<(AggregatePart, FieldRef)> {
    let Some(column_name) = &call.column else {
        let shown = "count(*)".to_owned();
        let field =
            Field::new(call.alias.clone().unwrap_or_else(|| shown.clone()), DataType::Int64, false);
        return Some((
            AggregatePart { feed: AggregateFeed::Rows(0), shown, end: None },
            Arc::new(field),
        ));
    };
    let column = spec.table.schema().column_index(column_name)?;
    let function = engine.state.aggregate_functions().get(&call.function)?.clone();
    let own: FieldRef = Arc::new(spec.table.arrow.field(column).clone());
    // The planner's own rules convert the argument, so that the result has the type of a planned
    // one.
    let [taken] = fields_with_udf(&[own], function.as_ref()).ok()?.try_into().ok()?;
    let shown = format!("{}({}.{})", function.name(), path.to_ascii_lowercase(), column_name);
    let argument: Arc<dyn PhysicalExpr> = Arc::new(Column::new(taken.name(), 0));
    let built = AggregateExprBuilder::new(function.clone(), vec![argument])
        .schema(Arc::new(Schema::new(vec![taken.clone()])))
        .alias(shown.clone())
        .build()
        .ok()?;
    let accumulator = built.create_accumulator().ok()?;
    let named = built
        .field()
        .as_ref()
        .clone()
        .with_name(call.alias.clone().unwrap_or_else(|| shown.clone()));
    // Of these two the first or last row of an order may be enough: `run.rs` looks for one.
    let end = matches!(function.name(), "min" | "max").then(|| (column, function.name() == "max"));
    let feed = AggregateFeed::Values {
        column,
        data_type: taken.data_type().clone(),
        function: Arc::new(built),
        accumulator,
    };
    Some((AggregatePart { feed, shown, end }, Arc::new(named)))
}
