//! Documents, and requests against a store, as the SDKs write them.

mod client;
mod definitions;
mod documents;
mod groups;
mod requests;
mod rows;
