//! Large objects: whole or not there, for any size and any writer.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/here.rs"]
mod elsewhere;

mod model;
mod rules;
