//! What survives a `kill -9` and a full disk: everything that was acknowledged, nothing torn,
//! nothing invented.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/here.rs"]
mod elsewhere;

mod child;
mod full_disk;
mod identities;
mod indexes;
mod kills;
mod ledger;
mod lobs;
