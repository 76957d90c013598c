//! The store as a source of DataFusion's plans.

mod dependent;
mod doubles;
mod dynamic;
mod keyset;
mod latest;
mod lists;
mod membership;
mod moments;
mod nullable;
mod numbers;
mod operators;
mod outer;
mod overflow;
mod parts;
mod pushdown;
mod relations;
mod scan;
mod sorted_joins;
mod types;
mod uuid;

pub(crate) use dependent::DependentRule;
pub(crate) use doubles::settle;
pub(crate) use keyset::{KeySets, key_set_of};
pub(crate) use latest::LatestRule;
pub(crate) use membership::MembershipRule;
pub(crate) use nullable::nullable;
pub(crate) use operators::OperatorPlanner;
pub(crate) use outer::OuterRule;
pub(crate) use overflow::OverflowRule;
pub(crate) use pushdown::physical_rules;
pub(crate) use relations::OwnRelations;
pub(crate) use scan::StoreScan;
pub(crate) use sorted_joins::{joins_by_hash, or_sorting};
pub(crate) use types::TypeRule;
pub(crate) use uuid::UuidPlanner;
