//! What reports must hold, in every format.

mod compared;
mod files;
mod page;
mod sample;
