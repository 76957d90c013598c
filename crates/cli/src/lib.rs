//! tonnage-cli
