//! tonnage
