//! Reads of many keys: by several threads, and by walking from one to the next.

mod spread;
mod walk;
