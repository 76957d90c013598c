//! tonnage-files
