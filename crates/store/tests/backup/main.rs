//! Backups: whole or none, restored as they were, whatever happens in between.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/here.rs"]
mod elsewhere;

mod damage;
mod full_disk;
mod kills;
mod making;
mod model;
mod owner;
mod place;
