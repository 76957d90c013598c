//! Tonnage inside this process, through its library.

mod client;
mod store;

use tonnage::{BulkGetOptions, Error, KeySource, PairGetOptions, Result};
use tonnage_sql::Answer;

pub(super) use self::store::Embedded;
use super::library::{PairKeys, bulk_put, field_name};
use super::{
    AnswerSink, BulkDone, BulkOptions, Client, Feature, Gauges, GetKeys, PutInput, RecordShape,
    RowSink, System,
};

impl System for Embedded {
    fn name(&self) -> &str {
        self.name
    }

    fn settings(&self) -> Vec<(String, String)> {
        self.settings.clone()
    }

    fn offers(&self, _feature: Feature) -> bool {
        true
    }

    /// A table with a text key and a BINARY column for each field: text columns would have each
    /// value checked for being text.
    fn create_records(&self, shape: &RecordShape) -> Result<()> {
        let fields: String =
            (0..shape.fields).map(|number| format!("{} BINARY, ", field_name(number))).collect();
        let table = &shape.table;
        self.define(&format!("CREATE TABLE {table} (id STRING, {fields}PRIMARY KEY (id))"))?;
        let twice = |_| Error::invalid("there are records already");
        self.records.set(self.store.table(table)?).map_err(twice)
    }

    fn client(&self) -> Result<Box<dyn Client + '_>> {
        Ok(Box::new(client::EmbeddedClient::new(self)))
    }

    fn bulk_put(&self, input: PutInput, options: &BulkOptions<'_>) -> Result<BulkDone> {
        bulk_put(
            input,
            options,
            |streams, options| Ok(self.store.bulk_put(streams, options)?.total),
            |rows, options| Ok(self.store.multi_put(rows, options)?.report.total),
        )
    }

    fn bulk_get(&self, keys: GetKeys, options: &BulkOptions<'_>) -> Result<BulkDone> {
        let mut done = BulkDone::default();
        match keys {
            GetKeys::Pairs(source) => {
                let (keys, failure) = PairKeys::new(source);
                let get = PairGetOptions {
                    max_concurrent_requests: options.parallelism,
                    memory_bytes_max: options.memory_bytes_max,
                    ..PairGetOptions::default()
                };
                for batch in self.store.kv().bulk_get_batches(keys, &get)? {
                    let batch = batch?;
                    done.count(batch.len() as u64, batch.bytes() as u64, options);
                }
                failure.lock().take().map_or(Ok(()), Err)?;
            }
            GetKeys::Rows(table, keys, children) => {
                let get = get_options(children, options);
                let table = self.store.table(table)?;
                for batch in table.bulk_get(KeySource::batches(keys), &get)? {
                    done.count_batch(&batch?.rows, options);
                }
            }
            GetKeys::Tables(keys) => {
                for (_, batch) in self.store.multi_get(keys, &get_options(&[], options))? {
                    done.count_batch(&batch?.rows, options);
                }
            }
        }
        Ok(done)
    }

    fn define(&self, statement: &str) -> Result<()> {
        self.store.execute(statement).map(drop)
    }

    fn query(&self, statement: &str, sink: &mut RowSink<'_>) -> Result<()> {
        self.sql()?.execute(statement)?.into_rows()?.try_for_each(|batch| sink(&batch?))
    }

    fn multi_query(&self, statements: &[&str], sink: &mut AnswerSink<'_>) -> Result<()> {
        let answers = self.sql()?.fetch_all(statements.iter().copied());
        answers.into_iter().enumerate().try_for_each(|(number, answer)| {
            let at = |error: Error| error.at(format!("statement {number}"));
            let mut rows = answer.and_then(Answer::into_rows).map_err(at)?;
            rows.try_for_each(|batch| sink(number, &batch.map_err(at)?))
        })
    }

    fn sync(&self) -> Result<()> {
        self.store.sync()
    }

    fn settle(&self) -> Result<()> {
        self.store.settle()
    }

    fn gauges(&self) -> Result<Gauges> {
        let statistics = self.store.statistics()?;
        let holds_up = |(name, value): &(String, u64)| {
            *value > 0 && ["is_write_stopped", "actual_delayed_write_rate"].contains(&name.as_str())
        };
        Ok(Gauges {
            disk_bytes: statistics.disk_bytes(),
            compaction_pending_bytes: statistics.compaction_pending_bytes(),
            stalled: statistics.shards.iter().flat_map(|shard| &shard.details).any(holds_up),
        })
    }
}

fn get_options(children: &[&str], options: &BulkOptions<'_>) -> BulkGetOptions {
    let defaults = BulkGetOptions::default();
    BulkGetOptions {
        max_concurrent_requests: options.parallelism,
        relatives: children.iter().map(|child| (*child).to_owned()).collect(),
        memory_bytes_max: options.memory_bytes_max.unwrap_or(defaults.memory_bytes_max),
        ..defaults
    }
}
