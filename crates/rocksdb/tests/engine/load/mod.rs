//! Loads: how they end, and what happens beside and within them.

mod ends;
mod nested;
mod races;
