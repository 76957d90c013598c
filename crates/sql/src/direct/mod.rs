//! Simple statements, read straight from the store.
//!
//! 1. [`SimpleSelect::parse`] recognises
//!    `SELECT columns | aggregates FROM table [WHERE ...] [ORDER BY ...] [LIMIT n]` among the
//!    tokens, without looking at any table.
//! 2. [`bind`] finds columns and values. A statement whose conditions neither the key nor one index
//!    answers alone, or whose values would have to be converted by SQL's rules, is left to
//!    DataFusion: what is done here must be exactly what would be done there.
//! 3. The read is opened ([`DirectRead::run`]), or shared with other aggregates over the same rows
//!    ([`Aggregates`]).

mod aggregate;
mod bind;
mod literal;
mod parse;
mod run;

pub(crate) use aggregate::Aggregates;
pub(crate) use bind::{DirectRead, DirectWork, bind};
pub(crate) use parse::SimpleSelect;
pub(crate) use run::{aggregate, explain_aggregates};
