//! From trees to what can be run: names are found, groups are checked, and ways to the rows chosen.

mod access;
mod columns_used;
mod grouping;
mod joins;
mod key_value;
mod names;
mod select_plan;
mod static_types;

pub(crate) use access::{AccessPath, choose_access};
pub(crate) use columns_used::{UsedColumns, is_constant};
pub(crate) use grouping::{Aggregate, AggregateKind};
pub(crate) use joins::{JoinStep, TableJoin};
pub(crate) use key_value::{KeyValue, key_value};
pub(crate) use names::Names;
pub(crate) use select_plan::{OutputList, SelectPlan, plan_list};
