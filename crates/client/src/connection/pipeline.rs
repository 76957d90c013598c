//! Calls that do not wait for the answers of earlier ones, here or on a server.

use std::collections::VecDeque;

use tonnage::{Condition, GetOptions, Key, Result, Row, Store, WriteOptions};

use super::Connection;
use crate::pipeline::{CallResult, Pipeline};

/// Calls on single rows and pairs, answered in their order. A store of this process carries each out
/// at once.
#[derive(Debug)]
pub struct AnyPipeline(Either);

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "one a program: a box would be a detour")]
enum Either {
    Embedded { store: Store, answers: VecDeque<Result<CallResult>> },
    Remote(Pipeline),
}

impl Connection {
    /// Opens a [`Pipeline`].
    ///
    /// # Errors
    /// As [`crate::RemoteStore::pipeline`].
    pub fn pipeline(&self) -> Result<AnyPipeline> {
        Ok(AnyPipeline(match self {
            Self::Embedded(store) => {
                Either::Embedded { store: store.clone(), answers: VecDeque::new() }
            }
            Self::Remote(store) => Either::Remote(store.pipeline()?),
        }))
    }
}

/// A call with its errors as its answer.
fn answer_of(store: &Store, call: impl FnOnce(&Store) -> Result<CallResult>) -> Result<CallResult> {
    call(store)
}

/// Each call once: how a store of this process answers it, and the call of the client.
macro_rules! calls {
    ($($(#[$meta:meta])* fn $call:ident($($argument:ident: $given:ty),*) = |$store:ident| $here:expr;)*) => {
        impl AnyPipeline {
            $(
                $(#[$meta])*
                ///
                /// # Errors
                /// As [`Pipeline::put`].
                pub fn $call(&mut self, $($argument: $given),*) -> Result<()> {
                    match &mut self.0 {
                        Either::Embedded { store, answers } => {
                            answers.push_back(answer_of(store, |$store| $here));
                            Ok(())
                        }
                        Either::Remote(calls) => calls.$call($($argument),*),
                    }
                }
            )*
        }
    };
}

calls! {
    /// As [`Pipeline::put`].
    fn put(table: &str, row: &Row, condition: Condition, options: &WriteOptions) = |store| {
        store.table(table)?.put_if(row, condition, options).map(CallResult::Written)
    };
    /// As [`Pipeline::update`].
    fn update(table: &str, changes: &Row, condition: Condition, options: &WriteOptions) = |store| {
        store.table(table)?.update_if(changes, condition, options).map(CallResult::Written)
    };
    /// As [`Pipeline::delete`].
    fn delete(table: &str, key: &Row, condition: Condition, options: &WriteOptions) = |store| {
        store.table(table)?.delete_if(key, condition, options).map(CallResult::Written)
    };
    /// As [`Pipeline::get`].
    fn get(table: &str, key: &Row, options: &GetOptions) = |store| {
        store.table(table)?.get_with(key, options).map(CallResult::Row)
    };
    /// As [`Pipeline::put_pair`].
    fn put_pair(key: &Key, value: &[u8], condition: Condition, options: &WriteOptions) = |store| {
        store.kv().put_if(key, value, condition, options).map(CallResult::Written)
    };
    /// As [`Pipeline::delete_pair`].
    fn delete_pair(key: &Key, condition: Condition, options: &WriteOptions) = |store| {
        store.kv().delete_if(key, condition, options).map(CallResult::Written)
    };
    /// As [`Pipeline::get_pair`].
    fn get_pair(key: &Key, options: &GetOptions) = |store| {
        store.kv().get_with(key, options).map(CallResult::Pair)
    };
}

impl AnyPipeline {
    /// As [`Pipeline::next_answer`].
    ///
    /// # Errors
    /// As [`Pipeline::next_answer`].
    pub fn next_answer(&mut self) -> Result<Option<Result<CallResult>>> {
        match &mut self.0 {
            Either::Embedded { answers, .. } => Ok(answers.pop_front()),
            Either::Remote(calls) => calls.next_answer(),
        }
    }
}
