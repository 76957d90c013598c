//! Folds the numbers of each group into one state.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, PrimitiveArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::logical_expr::{EmitTo, GroupsAccumulator};

/// What is built from the numbers of a group.
pub(crate) trait GroupFold: Send + 'static {
    /// The numbers that come.
    type Input: ArrowPrimitiveType;
    /// The number that is kept.
    type State: ArrowPrimitiveType;

    /// The state of one number.
    fn first(
        number: <Self::Input as ArrowPrimitiveType>::Native,
    ) -> <Self::State as ArrowPrimitiveType>::Native;

    /// The state of two states together.
    fn combine(
        one: <Self::State as ArrowPrimitiveType>::Native,
        other: <Self::State as ArrowPrimitiveType>::Native,
    ) -> Result<<Self::State as ArrowPrimitiveType>::Native>;

    /// The results of groups.
    fn finish(states: PrimitiveArray<Self::State>, result: &DataType) -> Result<ArrayRef>;
}

type State<F> = <<F as GroupFold>::State as ArrowPrimitiveType>::Native;

/// The states of all groups; a group without numbers has none.
pub(crate) struct GroupStates<F: GroupFold> {
    states: Vec<Option<State<F>>>,
    state_type: DataType,
    result_type: DataType,
}

impl<F: GroupFold> GroupStates<F> {
    pub(crate) fn new(state_type: DataType, result_type: DataType) -> Self {
        Self { states: Vec::new(), state_type, result_type }
    }

    fn add(&mut self, group: usize, state: State<F>) -> Result<()> {
        let place = &mut self.states[group];
        *place = Some(match *place {
            None => state,
            Some(before) => F::combine(before, state)?,
        });
        Ok(())
    }

    fn take_states(&mut self, emit: EmitTo) -> PrimitiveArray<F::State> {
        let states = emit.take_needed(&mut self.states);
        PrimitiveArray::<F::State>::from_iter(states).with_data_type(self.state_type.clone())
    }
}

impl<F: GroupFold> GroupsAccumulator for GroupStates<F> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        groups_len: usize,
    ) -> Result<()> {
        self.states.resize(groups_len, None);
        let numbers = values[0].as_primitive::<F::Input>();
        if filter.is_none() && numbers.null_count() == 0 {
            return groups
                .iter()
                .zip(numbers.values().iter())
                .try_for_each(|(group, number)| self.add(*group, F::first(*number)));
        }
        for (row, group) in groups.iter().enumerate() {
            if numbers.is_valid(row)
                && filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row))
            {
                self.add(*group, F::first(numbers.value(row)))?;
            }
        }
        Ok(())
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        groups_len: usize,
    ) -> Result<()> {
        self.states.resize(groups_len, None);
        let states = values[0].as_primitive::<F::State>();
        for (row, group) in groups.iter().enumerate().filter(|(row, _)| states.is_valid(*row)) {
            self.add(*group, states.value(row))?;
        }
        Ok(())
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        F::finish(self.take_states(emit), &self.result_type)
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![Arc::new(self.take_states(emit))])
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let numbers = values[0].as_primitive::<F::Input>();
        let kept = filter.map(|filter| NullBuffer::new(filter.values() & &valid(filter)));
        let nulls = NullBuffer::union(numbers.nulls(), kept.as_ref());
        let states = numbers.values().iter().map(|number| F::first(*number)).collect();
        Ok(vec![Arc::new(
            PrimitiveArray::<F::State>::new(states, nulls).with_data_type(self.state_type.clone()),
        )])
    }

    fn size(&self) -> usize {
        self.states.capacity() * size_of::<Option<State<F>>>()
    }
}

fn valid(filter: &BooleanArray) -> arrow::buffer::BooleanBuffer {
    filter.nulls().map_or_else(
        || arrow::buffer::BooleanBuffer::new_set(filter.len()),
        |nulls| nulls.inner().clone(),
    )
}
