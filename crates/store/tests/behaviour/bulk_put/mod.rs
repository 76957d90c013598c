//! Bulk put: every rule of it.

mod completion;
mod control;
mod duplicates;
mod entries;
mod failures;
mod model;
mod overtaken;
mod settings;
