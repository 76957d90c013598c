//! What the codec promises, mostly for random tables and rows.

mod align;
mod families;
mod keys;
mod rows;
mod support;
