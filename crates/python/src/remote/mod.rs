//! The same classes over a server. Methods have the same names. What a server does not offer raises
//! `Unsupported` with the remedy.

mod connection;
mod key_batches;
mod key_value;
mod rows;
mod sql;
mod store;
mod table;

pub(crate) use key_value::RemoteKeyValue;
pub(crate) use sql::RemotePrepared;
pub(crate) use store::RemoteStore;
pub(crate) use table::RemoteTable;
