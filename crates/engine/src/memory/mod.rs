//! placeholder
pub struct MemoryEngine;
