//! Carries commands out.
//!
//! 1. [`Executor::run`] takes clients whose bytes came together. Round after round it gathers their
//!    next commands ([`executor`]).
//! 2. Commands on keys become parts, one for each key ([`plan`]). All keys of a round are looked up
//!    in one call, the parts of a key are carried out one after another in memory ([`part`]), and
//!    what they leave is one write to the log, whose answer is waited for ([`round`]).
//! 3. Other commands are run by themselves, after all before them of the same client
//!    ([`immediate`]).

mod bitmaps;
mod common_subsequence;
mod connection;
mod copies;
mod counted_keys;
mod dispatch;
mod encoding;
mod entry_source;
mod executor;
mod expiry;
mod expiry_time;
mod field_expiry;
mod field_index;
mod field_set;
mod field_time;
mod generic;
mod hash_action;
mod hash_expiry;
mod hashes;
mod immediate;
mod inner_calls;
mod introspection;
mod keys;
mod list_action;
mod list_moves;
mod lists;
mod memory;
mod messages;
mod multi_pop;
mod open_collection;
mod open_hash;
mod open_list;
mod open_spread;
mod outside;
mod part;
mod part_reply;
mod plan;
mod random;
mod room;
mod round;
mod sample;
mod scored_members;
mod server;
mod set_algebra;
mod set_many;
mod sets;
mod sort;
mod sorted_action;
mod sorted_algebra;
mod sorted_range;
mod sorted_sets;
mod spread;
mod spread_list;
mod strings;
mod text_list;
mod texts;
mod transactions;
mod waiting;
mod walk;
mod words;

pub use executor::{Executor, RunReport};
pub(crate) use keys::fetch;
pub use words::of_store as store_error;
