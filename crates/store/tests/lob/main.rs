//! Large objects: whole or not there, whatever their size and whoever writes.

#[path = "../common/mod.rs"]
mod common;

mod model;
mod rules;
