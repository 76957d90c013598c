//! Aggregates of the library, with accumulators of our own where the library answers wrongly.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue, not_impl_err};
use datafusion::functions_aggregate::{
    all_default_aggregate_functions, average::avg_udaf, min_max,
    percentile_cont::percentile_cont_udaf, sum,
};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, ReversedUDAF, SetMonotonicity,
    Signature, StatisticsArgs,
};

use super::extreme_interval::ExtremeInterval;
use super::total;
use crate::interval::is_interval;
use crate::upstream::frame_accumulator::{BIT_XOR, FrameAccumulator};
use crate::upstream::{average, extreme_double, percentile};

/// Functions of which only the frames of windows are done here: those of doubles, and `bit_xor`,
/// which is 0 to the library where all rows have left.
const IN_FRAMES: [&str; 16] = [
    BIT_XOR,
    "corr",
    "covar_pop",
    "covar_samp",
    "regr_avgx",
    "regr_avgy",
    "regr_intercept",
    "regr_r2",
    "regr_slope",
    "regr_sxx",
    "regr_sxy",
    "regr_syy",
    "stddev",
    "stddev_pop",
    "var",
    "var_pop",
];

/// What keys begin with under which a field says what its bytes mean.
const EXTENSION: &str = "ARROW:extension";

/// The functions as sessions have them.
pub(crate) fn guarded() -> Vec<AggregateUDF> {
    let guarded = |inner, part| AggregateUDF::new_from_impl(GuardedAggregate { inner, part });
    let in_frames = all_default_aggregate_functions()
        .into_iter()
        .filter(|function| IN_FRAMES.contains(&function.name()))
        .map(|function| guarded(function, GuardedPart::Frames));
    let others = [
        guarded(min_max::min_udaf(), GuardedPart::Extreme { is_max: false }),
        guarded(min_max::max_udaf(), GuardedPart::Extreme { is_max: true }),
        guarded(sum::sum_udaf(), GuardedPart::Total),
        guarded(avg_udaf(), GuardedPart::Average),
        guarded(percentile_cont_udaf(), GuardedPart::Percentile),
    ];
    others.into_iter().chain(in_frames).collect()
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct GuardedAggregate {
    inner: Arc<AggregateUDF>,
    part: GuardedPart,
}

/// What is done here.
#[derive(Debug, PartialEq, Eq, Hash)]
enum GuardedPart {
    Extreme {
        is_max: bool,
    },
    Total,
    Average,
    Percentile,
    /// Those of windows alone.
    Frames,
}

impl GuardedAggregate {
    fn groups(&self, arguments: &AccumulatorArgs<'_>) -> Option<Box<dyn GroupsAccumulator>> {
        let result = arguments.return_field.data_type();
        match self.part {
            GuardedPart::Extreme { is_max } => extreme_double::groups(is_max, result),
            GuardedPart::Total => total::groups(result),
            GuardedPart::Percentile => percentile::groups(arguments),
            GuardedPart::Average | GuardedPart::Frames => None,
        }
    }

    fn own_accumulator(
        &self,
        arguments: &AccumulatorArgs<'_>,
        is_sliding: bool,
    ) -> Option<Box<dyn Accumulator>> {
        match self.part {
            GuardedPart::Extreme { is_max } => {
                let result = arguments.return_field.data_type();
                let longest = || ExtremeInterval::new(is_max, result.clone(), is_sliding);
                is_interval(result).then(|| Box::new(longest()) as Box<dyn Accumulator>)
            }
            GuardedPart::Total => {
                total::total(arguments.return_field.data_type(), arguments.is_distinct)
            }
            GuardedPart::Average => average::average(arguments),
            GuardedPart::Percentile => percentile::percentile(arguments),
            GuardedPart::Frames => None,
        }
    }
}

impl AggregateUDFImpl for GuardedAggregate {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arguments)
    }

    fn return_field(&self, arguments: &[FieldRef]) -> Result<FieldRef> {
        let field = self.inner.return_field(arguments)?;
        // The least of 16 bytes that are not a UUID is not a UUID either.
        let given = arguments.first().filter(|given| {
            matches!(self.part, GuardedPart::Extreme { .. })
                && matches!(given.data_type(), DataType::FixedSizeBinary(_))
        });
        Ok(match given {
            Some(given) => {
                let marks = given.metadata().iter().filter(|(key, _)| key.starts_with(EXTENSION));
                let marks = marks.map(|(key, mark)| (key.clone(), mark.clone())).collect();
                Arc::new(Field::clone(&field).with_metadata(marks))
            }
            None => field,
        })
    }

    fn accumulator(&self, arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        self.own_accumulator(&arguments, false)
            .map_or_else(|| self.inner.accumulator(arguments), Ok)
    }

    fn create_sliding_accumulator(
        &self,
        arguments: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn Accumulator>> {
        if let Some(own) = self.own_accumulator(&arguments, true) {
            return Ok(own);
        }
        let moving = match self.part {
            GuardedPart::Extreme { .. } | GuardedPart::Percentile => None,
            _ => FrameAccumulator::of(&self.inner, &arguments),
        };
        match moving {
            Some(moving) => Ok(Box::new(moving?)),
            None => self.inner.create_sliding_accumulator(arguments),
        }
    }

    fn state_fields(&self, arguments: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let argument = arguments.input_fields.first().map(|field| field.data_type());
        let state = match (&self.part, argument) {
            (GuardedPart::Total, _) => total::state_type(arguments.return_type()),
            (GuardedPart::Percentile, Some(given)) if given.is_floating() => {
                return Ok(percentile::state_fields(arguments.name));
            }
            (GuardedPart::Average, Some(given)) if average::is_own(argument) => {
                let own = average::state_fields(arguments.name, given, arguments.is_distinct);
                return own.map_or_else(|| self.inner.state_fields(arguments), Ok);
            }
            _ => None,
        };
        let Some(state) = state else { return self.inner.state_fields(arguments) };
        let field = match arguments.is_distinct {
            true => Field::new_list(
                format_state_name(arguments.name, "sum distinct"),
                Field::new_list_field(state, true),
                false,
            ),
            false => Field::new(format_state_name(arguments.name, "sum"), state, true),
        };
        Ok(vec![Arc::new(field)])
    }

    fn groups_accumulator_supported(&self, arguments: AccumulatorArgs<'_>) -> bool {
        let argument = arguments.expr_fields.first().map(|field| field.data_type());
        let is_own = match self.part {
            GuardedPart::Extreme { .. } => argument.is_some_and(is_interval),
            GuardedPart::Average => average::is_own(argument),
            GuardedPart::Total | GuardedPart::Percentile | GuardedPart::Frames => false,
        };
        // One accumulator for each group does it: such averages and intervals are rare.
        !is_own && self.inner.groups_accumulator_supported(arguments)
    }

    fn create_groups_accumulator(
        &self,
        arguments: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        if arguments.is_distinct && self.part == GuardedPart::Total {
            return not_impl_err!("sum of different numbers by group");
        }
        let own = self.groups(&arguments);
        own.map_or_else(|| self.inner.create_groups_accumulator(arguments), Ok)
    }

    fn is_descending(&self) -> Option<bool> {
        self.inner.is_descending()
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        // The values are sorted here: several percentiles need no order of the rows.
        if self.part == GuardedPart::Percentile {
            return AggregateOrderSensitivity::Insensitive;
        }
        self.inner.order_sensitivity()
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(types)
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn value_from_stats(&self, statistics: &StatisticsArgs<'_>) -> Option<ScalarValue> {
        self.inner.value_from_stats(statistics)
    }

    fn supports_within_group_clause(&self) -> bool {
        self.inner.supports_within_group_clause()
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        self.inner.inner().set_monotonicity(data_type)
    }
}
