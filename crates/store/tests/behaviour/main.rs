//! What the store does, as its users see it, on every engine.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/here.rs"]
mod elsewhere;

mod bulk_get;
mod bulk_put;
mod checking_beside_ddl;
mod deadlines;
mod examples;
mod few_threads;
mod geo;
mod index;
mod kv;
mod left_spaces;
mod levels;
mod multi_get;
mod multi_put;
mod noting;
mod shared;
mod stepped;
mod store;
mod table;
mod watching;
