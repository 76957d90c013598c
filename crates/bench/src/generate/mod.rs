//! Which record comes next, and what it holds.
