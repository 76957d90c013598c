//! The benchmarks from outside: each workload on tiny inputs on every system, what measuring must
//! get right, and what reports must hold in every format.

mod billion;
mod bulk;
mod common;
mod generate;
mod matrix;
mod measure;
mod properties;
mod report;
mod servers;
mod systems;
mod tables;
mod ycsb;
