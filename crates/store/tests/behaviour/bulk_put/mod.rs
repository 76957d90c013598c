//! Bulk put: every rule of it.

mod altered;
mod completion;
mod control;
mod dropped;
mod duplicates;
mod entries;
mod failures;
mod model;
mod nested;
mod overtaken;
mod pushing;
mod settings;
mod ttls;
mod turmoil;
mod waiting;
