//! Large objects: whole or not there, whatever their size and whoever writes.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/here.rs"]
mod elsewhere;

mod model;
mod rules;
