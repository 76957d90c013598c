//! Documents, and requests against a store, as the SDKs write them.

mod changes;
mod client;
mod collections;
mod definitions;
mod documents;
mod groups;
mod hostile;
mod namespaces;
mod queries;
mod requests;
mod rows;
