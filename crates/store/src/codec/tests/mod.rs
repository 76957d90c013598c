//! What the codec promises, mostly for random tables and rows.

mod align;
mod families;
mod format;
mod keys;
mod rows;
mod support;
