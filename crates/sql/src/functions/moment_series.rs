//! `generate_series` and `range` in FROM, of whole numbers and of moments.
//!
//! Those of the library take timestamps in nanoseconds alone, and name what they do not take in the
//! words of the planner.

use std::sync::Arc;

use arrow::datatypes::{DataType, IntervalUnit, TimeUnit};
use datafusion::catalog::{TableFunctionArgs, TableFunctionImpl};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::datasource::TableProvider;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::Expr;
use tonnage::Error;

use crate::errors::{in_sql, into_datafusion};

const STEP: DataType = DataType::Interval(IntervalUnit::MonthDayNano);
const MOMENT: DataType = DataType::Timestamp(TimeUnit::Nanosecond, None);

/// Puts them in the places of those of the library.
pub(crate) fn register_series(state: &mut SessionState) {
    for name in ["generate_series", "range"] {
        if let Some(own) = state.table_functions().get(name) {
            let inner = own.function().clone();
            state.register_udtf(name, Arc::new(Series { name, inner }));
        }
    }
}

#[derive(Debug)]
struct Series {
    name: &'static str,
    inner: Arc<dyn TableFunctionImpl>,
}

impl TableFunctionImpl for Series {
    fn call_with_args(&self, arguments: TableFunctionArgs) -> Result<Arc<dyn TableProvider>> {
        let given = arguments.exprs();
        let is_of_moments = given.iter().take(2).any(
            |argument| matches!(argument, Expr::Literal(value, _) if is_moment(&value.data_type())),
        );
        let fitted = match is_of_moments {
            true => self.moments(given)?,
            false => self.numbers(given)?,
        };
        self.inner.call_with_args(TableFunctionArgs::new(&fitted, arguments.session()))
    }
}

impl Series {
    /// Two moments and an interval.
    fn moments(&self, given: &[Expr]) -> Result<Vec<Expr>> {
        if given.len() != 3 {
            return Err(self.wrong("give two timestamps and a step, such as INTERVAL '1 day'"));
        }
        let wanted = [MOMENT, MOMENT, STEP];
        given.iter().zip(wanted).map(|(argument, kind)| self.fitted(argument, &kind)).collect()
    }

    /// One whole number, or two or three.
    fn numbers(&self, given: &[Expr]) -> Result<Vec<Expr>> {
        if given.is_empty() || given.len() > 3 {
            return Err(self.wrong("give its first and last number, and a step"));
        }
        given.iter().map(|argument| self.fitted(argument, &DataType::Int64)).collect()
    }

    fn fitted(&self, argument: &Expr, wanted: &DataType) -> Result<Expr> {
        let Expr::Literal(value, metadata) = argument else {
            // What is said of one that depends on a row.
            return Err(self.wrong(
                "its arguments must be literals in FROM; in SELECT, unnest(generate_series(a, b)) takes columns",
            ));
        };
        let found = value.data_type();
        if found == *wanted && !value.is_null() {
            return Ok(argument.clone());
        }
        if value.is_null() {
            // The library knows a series of moments by the type of the first, and takes no NULL
            // that is a number.
            let null = match wanted {
                DataType::Int64 => ScalarValue::Null,
                kind => ScalarValue::try_from(kind)?,
            };
            return Ok(Expr::Literal(null, metadata.clone()));
        }
        let fits = match wanted {
            DataType::Int64 => found.is_integer(),
            DataType::Interval(_) => {
                matches!(found, DataType::Interval(_) | DataType::Duration(_) | DataType::Utf8)
            }
            _ => is_moment(&found) || found == DataType::Utf8,
        };
        if !fits {
            return Err(self.wrong(&format!(
                "it takes whole numbers, or two timestamps and an INTERVAL, and not {}",
                in_sql(&found.to_string())
            )));
        }
        let fitted = match is_moment(wanted) {
            true => value
                .cast_to(wanted)
                .map_err(|_| self.wrong("its timestamps reach from 1677 to 2262"))?,
            false => value.cast_to(wanted)?,
        };
        Ok(Expr::Literal(fitted, metadata.clone()))
    }

    fn wrong(&self, what: &str) -> DataFusionError {
        into_datafusion(Error::invalid(format!("{}: {what}", self.name)))
    }
}

fn is_moment(kind: &DataType) -> bool {
    matches!(kind, DataType::Timestamp(..) | DataType::Date32)
}
